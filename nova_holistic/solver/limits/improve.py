# SPDX-License-Identifier: Apache-2.0
"""Limits of the large-neighbourhood search."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImproveLimits:
    """Limits of the large-neighbourhood search. A number is the largest one
    unless the text says otherwise.

    :ivar cost_noise: largest relative random addition to the cost of a host.
        No effect on 6 points.
    :ivar cheap_hosts: factor of the number of cheap hosts from which the
        wanted number is drawn. No effect on 6 points.
    :ivar whole_scope_factor: factor of the number of freed members up to which
        the members of a scope are freed together. No effect on 2 points.
    :ivar whole_rows: policies times hosts up to which the rows of all hosts
        are built. Above, each step frees whole parts of the group. Chosen by
        the mixed groups of benchmarks/grid.py.
    """

    cost_noise: float = 0.5
    cheap_hosts: int = 6
    whole_scope_factor: int = 4
    whole_rows: int = 1_000_000
