# SPDX-License-Identifier: Apache-2.0
"""Many users' operations, chosen by a seed, on a cloud of processes that are
killed and paused meanwhile; afterwards the invariants have to hold.

``python -m tests.chaos --seeds 20`` runs many seeds; ``--seed N`` runs one
again.
"""
