# SPDX-License-Identifier: Apache-2.0
"""Operations of several users, chosen by a seed, on a cloud whose processes
are killed and paused. Afterwards the invariants must hold.

``python -m tests.chaos --seeds 20`` runs many seeds. ``--seed N`` repeats one
of them.
"""
