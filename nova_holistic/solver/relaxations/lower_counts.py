# SPDX-License-Identifier: Apache-2.0
"""The largest count of one member description with which the group fits."""

import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group, join_path
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.relationship import Relationship
from nova_holistic.model.relaxations import LowerCount
from nova_holistic.solver.relaxations.trials import is_monotone, Trials

Fits = Callable[[int], bool | None]
"""Returns whether the group fits with a count; None if this is unknown."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """A member description with a count.

    :ivar path: path of the description
    :ivar counts: valid lower counts, in ascending order
    """

    path: str
    description: MemberDescription
    counts: range

    @property
    def position(self) -> str:
        return f'{self.description.place}.count'


def lower_counts(group: Group, snapshot: Snapshot, trials: Trials
                 ) -> tuple[tuple[LowerCount, ...], tuple[str, ...]]:
    """Find, for each member description, the largest count with which the
    group fits.

    :param group: a group that has no plan
    :returns: the lower counts that were found, and the undecided positions
    """
    found, undecided = [], []
    monotone = is_monotone(group)
    candidates = list(_counted(group, group))
    for number, each in enumerate(candidates):
        share = trials.part(1 / (len(candidates) - number))
        count, proved = _largest(each.counts, lambda count: share.fits(
            _with_count(group, each.path, count), snapshot), monotone)
        if count is not None:
            found.append(LowerCount(
                each.position, each.path, count, each.description.count,
                proved))
        elif not proved:
            undecided.append(each.position)
    return tuple(found), tuple(undecided)


def _largest(counts: Sequence[int], fits: Fits, monotone: bool
             ) -> tuple[int | None, bool]:
    """The largest count that fits, and whether this is proved.

    :param monotone: whether every lower count fits if a higher count fits
    """
    known: dict[int, bool | None] = {}

    def asked(count: int) -> bool | None:
        if count not in known:
            known[count] = fits(count)
        return known[count]

    found = _bisected(counts, asked)
    above = [each for each in counts if found is None or each > found]
    if monotone:
        return found, not above or asked(above[0]) is False
    # A larger count may fit although smaller counts do not fit.
    for count in reversed(above):
        if asked(count) is not False:
            return (count, True) if asked(count) else (found, False)
    return found, True


def _bisected(counts: Sequence[int],
              is_possible: Callable[[int], bool | None]) -> int | None:
    """A count that fits; if the answers are monotone, the largest one."""
    number = bisect.bisect_left(
        counts, True, key=lambda count: not is_possible(count))
    return counts[number - 1] if number else None


def _counted(top: Group, group: Group, path: str = '') -> Iterator[_Counted]:
    """Yield the descriptions whose count can be lowered."""
    for each in group.members:
        if each.count is not None and each.server_names():
            first = join_path(path, each.name)
            counts = range(_lowest(top, each, first), each.count)
            if counts:
                yield _Counted(first, each, counts)
    for nested in group.groups:
        yield from _counted(top, nested, join_path(path, nested.name))


def _lowest(top: Group, description: MemberDescription, path: str) -> int:
    """The lowest count that leaves at least one server, and every server that
    a relationship names."""
    named = {join_path(scope.path, side) for scope in top.scopes()
             for rule in scope.group.rules if isinstance(rule, Relationship)
             for side in rule.between}
    left = [number for number in range(description.count)
            if f'{description.name}-{number}' not in description.absent]
    return 1 + max([left[0], *(number for number in left
                               if f'{path}-{number}' in named)])


def _with_count(group: Group, path: str, count: int) -> Group:
    """The group in which the description at the path has this count."""
    first, _, rest = path.partition('/')
    if rest:
        return replace(group, groups=tuple(
            _with_count(each, rest, count) if each.name == first else each
            for each in group.groups))
    return replace(group, members=tuple(
        each.with_count(count) if each.name == first else each
        for each in group.members))
