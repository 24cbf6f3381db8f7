# SPDX-License-Identifier: Apache-2.0
"""Which hosts of one snapshot are those of another."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.snapshot import Host


@dataclass(frozen=True, slots=True)
class Succession:
    """From earlier hosts to later ones, row by row.

    A host is the same where nothing differs that columns tell: name, place,
    labels, inventories, whether it is enabled. Most are the same object.

    :ivar origin: for each later host the earlier one's index; -1 where it is
        new or otherwise
    :ivar kept: earlier indexes of those that are the same
    :ivar fresh: later indexes of those that are not
    :ivar same: nothing differs, order included
    :ivar same_places: nothing but inventories and what is enabled differs
    :ivar same_names: the same names in the same order
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
        """:param index: of each earlier host, by name"""
        origin = np.arange(len(later), dtype=np.int64)
        places = names = len(earlier) == len(later)
        if earlier is not later:
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

    def column(self, before: np.ndarray, fresh: np.ndarray) -> np.ndarray:
        """A column of the later hosts.

        :param before: of the earlier ones, at least one
        :param fresh: rows of those that are not the same, in order
        """
        # An origin of -1 finds some row, which is then written over.
        column = before[self.origin]
        column[self.fresh] = fresh
        return column


def _same_row(one: Host, other: Host) -> bool:
    return (one.enabled == other.enabled
            and one.inventories == other.inventories
            and _same_place(one, other))


def _same_place(one: Host, other: Host) -> bool:
    return (one.name == other.name and one.location == other.location
            and one.labels == other.labels)
