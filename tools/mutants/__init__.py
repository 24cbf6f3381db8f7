# SPDX-License-Identifier: Apache-2.0
"""Apply a list of mutants to a copy of the project and report the survivors.

A mutant is a small change of the program that breaks it. If the tests still
pass with the change, nothing tests what it breaks: the mutant survives. The
lists are the files ``tests/mutants/*.yaml``, one for each package. Each
contains a list of entries with these keys:

``name``
    a sentence about the effect of the mutant
``file``
    the path of the changed file, relative to the project
``old``, ``new``
    the exact text that is replaced, and its replacement. ``old`` has to occur
    exactly once in the file, unless ``occurrence`` is given. Where it takes
    several lines, use a YAML block (``|-``), and begin after the indentation
    of the first line, or write the indentation's width (``|2-``)
``tests``
    files or node ids of pytest, relative to the project: at least one of
    these tests has to fail
``occurrence``
    optional: which occurrence of ``old`` is replaced; the first is 1
``environment``
    optional: the tox environment that the tests need: ``unit``,
    ``functional`` or ``services``

An example::

    - name: A limit of 0 means that there is no limit
      file: nova_holistic/api/checks/limits.py
      old: self._limits[name] >= 0
      new: self._limits[name] > 0
      tests: [tests/unit/api/test_limits.py]

The command copies the tracked files of the project to a temporary directory,
as they are in the work tree, and runs all tests there with PYTHONPATH set to
the copy. First it runs each set of tests without a mutant: they have to pass.
Then it applies one mutant at a time. A mutant is

* killed, if pytest ends with exit code 1 because a test failed;
* a survivor, if pytest ends with exit code 0;
* an error otherwise: it does not apply, its file can no longer be compiled,
  its tests do not pass without it, pytest cannot collect them or runs longer
  than the timeout, or only the setup of a fixture failed.
"""
