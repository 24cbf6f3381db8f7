# SPDX-License-Identifier: Apache-2.0
"""The load of each uplink by the traffic between two sides of a relationship,
according to the pipe model of ``bandwidth``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.members.member import Member

Sides = tuple[tuple[Member, ...], tuple[Member, ...]]
_Numbers = dict[Domain | None, int]


@dataclass(slots=True, eq=False)
class UplinkLoads:
    """Mbit/s on the uplink of each domain of a level.

    :ivar mbps: Mbit/s in each direction between each server of one side and
        each server of the other
    :ivar _paths: paths of the members of both sides
    :ivar _last: the levels of the tree and the hosts of these members in the
        last call, with its result
    """

    sides: Sides
    level: str
    mbps: int
    _paths: tuple[str, ...] = field(init=False)
    _last: tuple[Any, Mapping[Domain, int]] | None = field(
        init=False, default=None)

    def __post_init__(self) -> None:
        self._paths = tuple(m.path for side in self.sides for m in side)

    def __call__(self, placement: Mapping[str, Host],
                 snapshot: Snapshot) -> Mapping[Domain, int]:
        """The load of each domain whose uplink the placed members use."""
        # Greedy construction moves one member at a time, so most
        # relationships have the same hosts as in the call before.
        key = snapshot.levels, [*map(placement.get, self._paths)]
        last = self._last
        if last is None or last[0] != key:
            self._last = last = key, self._compute(placement, snapshot)
        return last[1]

    def _compute(self, placement: Mapping[str, Host],
                 snapshot: Snapshot) -> Mapping[Domain, int]:
        first, second = (
            numbers_of_members(side, self.level, placement, snapshot)
            for side in self.sides)
        loads: dict[Domain, int] = {}
        for one, other in ((first, second), (second, first)):
            total = sum(other.values())
            for domain, number in one.items():
                elsewhere = total - other.get(domain, 0)
                if domain is not None and elsewhere:
                    loads[domain] = loads.get(domain, 0) + (
                        number * elsewhere * self.mbps)
        return loads


def numbers_of_members(side: Sequence[Member], level: str,
                       placement: Mapping[str, Host], snapshot: Snapshot
                       ) -> _Numbers:
    """The number of placed members in each domain of the level; None means no
    domain."""
    # Dictionaries take much less time than counters, and greedy construction
    # calls this for many of the hosts that it tries.
    found: _Numbers = {}
    for member in side:
        host = placement.get(member.path)
        if host is not None:
            domain = snapshot.domain(host, level)
            found[domain] = found.get(domain, 0) + 1
    return found
