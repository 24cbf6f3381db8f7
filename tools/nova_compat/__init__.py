# SPDX-License-Identifier: Apache-2.0
"""Nova's own tests with our scheduler manager in place of Nova's.

``python -m tools.nova_compat`` runs the tests that the installed nova
contains (``nova.tests``), unchanged and by testtools, once with stock Nova
and once with the manager of this project, and compares the outcome of each
test. The project changes nothing for servers without a pointer, so both
outcomes are the same; a difference is a defect of this project.

``selection`` lists the tests, ``worker`` is the program that runs them,
``substitute`` puts our manager in place, ``pool`` distributes the tests over
processes, and ``comparison`` and ``report`` deal with the outcomes.
"""
