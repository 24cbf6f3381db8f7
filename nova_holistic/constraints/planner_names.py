# SPDX-License-Identifier: Apache-2.0
"""The names that the planner adds to the traits and resources of hosts."""

from collections.abc import Sequence

from nova_holistic.model.cloud.snapshot import changed_hosts, Host, Snapshot

PREFIX = 'refused by Nova: '
"""Prefix of the planner's own traits. No trait of Placement begins with it."""

_Names = tuple[Sequence[Host], frozenset[str]]
"""Hosts, and the planner's own traits and resource classes on them."""


def planner_names(snapshot: Snapshot) -> frozenset[str]:
    """The planner's own traits and resource classes in the snapshot."""
    return snapshot.once_for_lineage(
        'planner names', _names, _renewed_names)[1]


def _names(snapshot: Snapshot) -> _Names:
    # Many hosts have the same traits.
    kinds = {host.traits for host in snapshot.hosts}
    return snapshot.hosts, frozenset(
        trait for traits in kinds for trait in traits
        if trait.startswith(PREFIX)).union(
            name for host in snapshot.hosts[:1] for name in host.inventories)


def _renewed_names(known: _Names, snapshot: Snapshot) -> _Names:
    changed = changed_hosts(known[0], snapshot.hosts)
    if changed is not None and all(
            one.traits == other.traits
            and one.inventories.keys() == other.inventories.keys()
            for one, other in changed):
        return snapshot.hosts, known[1]
    return _names(snapshot)
