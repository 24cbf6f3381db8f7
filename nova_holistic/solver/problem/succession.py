# SPDX-License-Identifier: Apache-2.0
"""The correspondence of the hosts of two snapshots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import operator

import numpy as np

from nova_holistic.model.cloud.snapshot import Host


@dataclass(frozen=True, slots=True)
class Succession:
    """The correspondence of earlier and later hosts, row by row.

    A host is unchanged if none of the properties that ``HostArrays`` contains
    differs: name, location, labels, inventories, and whether it is enabled.
    Most unchanged hosts are the same object.

    :ivar origin: [later host]: index of the earlier host; -1 if the host is
        new or changed
    :ivar kept: earlier indexes of the unchanged hosts
    :ivar fresh: later indexes of the hosts that are new or changed
    :ivar same: whether nothing differs, including the order
    :ivar same_places: whether names, their order, locations and labels are
        the same
    :ivar same_names: whether the names and their order are the same
    """

    origin: np.ndarray
    kept: np.ndarray
    fresh: np.ndarray
    same: bool
    same_places: bool
    same_names: bool

    @classmethod
    def of(cls, earlier: tuple[Host, ...], index: Mapping[str, int],
           later: tuple[Host, ...]) -> 'Succession':
        """Compare the hosts of two snapshots.

        :param index: name of each earlier host to its index
        """
        changed = _changed_in_place(earlier, later)
        if changed is not None:
            return cls._in_place(earlier, later, changed)
        places = names = len(earlier) == len(later)
        found = []
        for position, host in enumerate(later):
            at = position if position < len(earlier) and (
                earlier[position] is host) else index.get(host.name, -1)
            before = None if at < 0 else earlier[at]
            if before is host:
                found.append(at)
                names = names and at == position
                continue
            moved = at != position
            names = names and not moved
            places = places and not moved and _same_place(before, host)
            found.append(at if before is not None
                         and _same_row(before, host) else -1)
        origin = np.array(found, dtype=np.int64)
        places = places and names
        fresh = np.flatnonzero(origin < 0)
        return cls(origin, origin[origin >= 0], fresh,
                   names and not len(fresh), places, names)

    @classmethod
    def _in_place(cls, earlier: tuple[Host, ...], later: tuple[Host, ...],
                  changed: Sequence[int]) -> 'Succession':
        """Compare hosts with the same names in the same order.

        :param changed: indexes of the hosts that are other objects
        """
        origin = np.arange(len(later), dtype=np.int64)
        fresh = [row for row in changed
                 if not _same_row(earlier[row], later[row])]
        origin[fresh] = -1
        return cls(
            origin, origin[origin >= 0], np.array(fresh, dtype=np.int64),
            not fresh, all(_same_place(earlier[row], later[row])
                           for row in changed), True)

    def column(self, before: np.ndarray, fresh: np.ndarray) -> np.ndarray:
        """A column of the later hosts.

        :param before: column of the earlier hosts, with at least one host
        :param fresh: rows of the hosts that are new or changed, in order
        """
        # An origin of -1 selects an arbitrary row, which is then replaced.
        column = before[self.origin]
        column[self.fresh] = fresh
        return column


def _changed_in_place(earlier: tuple[Host, ...], later: tuple[Host, ...]
                      ) -> Sequence[int] | None:
    """Indexes of the hosts that are other objects; None if the names or their
    order differ."""
    if len(earlier) != len(later):
        return None
    # Usually, a plan changes only a few of thousands of hosts.
    changed = np.flatnonzero(np.fromiter(
        map(operator.is_not, earlier, later), bool, len(later))).tolist()
    return changed if all(earlier[row].name == later[row].name
                          for row in changed) else None


def _same_row(one: Host, other: Host) -> bool:
    return (one.enabled == other.enabled
            and one.inventories == other.inventories
            and _same_place(one, other))


def _same_place(one: Host, other: Host) -> bool:
    return (one.name == other.name and one.location == other.location
            and one.labels == other.labels)
