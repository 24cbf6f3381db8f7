# SPDX-License-Identifier: Apache-2.0
"""Selects the groups in the children that are the parts of a group of the
parent."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nova_holistic.federation.recovery.found_parts import FoundPart
from nova_holistic.table.records import MemberState

_STATES = frozenset(MemberState)
_LIVE = (MemberState.PLANNED, MemberState.CLAIMED, MemberState.BUILT)
_WITH_SERVERS = (MemberState.CLAIMED, MemberState.BUILT)


@dataclass(frozen=True, slots=True)
class Selected:
    """The parts of a group of the parent.

    :ivar group: UUID of the group
    :ivar parts: all parts of one try, in the order of the clouds; with an
        obstacle, possibly parts of several tries
    :ivar obstacle: why the group cannot be recovered from them; None: it can
    """

    group: str
    parts: Sequence[FoundPart]
    obstacle: str | None = None


def select(parts: Collection[FoundPart], committed_after: datetime
           ) -> Iterator[Selected]:
    """The selected parts of each group of the parent, in the order of the
    UUIDs of the groups.

    The parts of a try that the parent did not complete have only short leases.
    A group whose lease ends soon cannot be distinguished from such a try.
    Neither is recovered.

    :param committed_after: naive UTC; the earliest end of the lease of a part
        that the parent has certainly committed
    """
    by_group: dict[str, dict[str, list[FoundPart]]] = {}
    for part in parts:
        by_group.setdefault(part.key.group, {}).setdefault(
            part.key.run, []).append(part)
    for group in sorted(by_group):
        yield _selected(group, by_group[group], committed_after)


def _selected(group: str, runs: Mapping[str, Sequence[FoundPart]],
              committed_after: datetime) -> Selected:
    ended = [each for each in runs.values()
             if any(_is_committed(part, committed_after) for part in each)]
    if not ended:
        every = [part for each in runs.values() for part in each]
        return Selected(group, every, 'no member is planned with a lease that '
                        'the parent has extended, or built')
    if len(ended) > 1:
        return Selected(
            group, [part for each in ended for part in each],
            'several tries to place the group have members')
    (chosen,) = ended
    chosen = sorted(chosen, key=lambda part: part.key.child)
    return Selected(group, chosen, _contradiction(chosen))


def _is_committed(part: FoundPart, after: datetime) -> bool:
    states = {each.state for each in part.group.members or ()}
    return not states.isdisjoint(_WITH_SERVERS) or (
        not states.isdisjoint(_LIVE) and (
            part.lease_end is None or part.lease_end > after))


def _contradiction(parts: Sequence[FoundPart]) -> str | None:
    """Why the parts contradict each other; None: they are consistent. The
    parent does not trust children: each can report only about its part."""
    seen: dict[str, str] = {}
    number = parts[0].key.number
    if number is not None and len(parts) != number:
        return (f'{len(parts)} of its {number} parts are in the clouds that '
                'the credentials can read')
    for part in parts:
        if not part.group.settled:
            return f'cloud {part.key.child} works on it; repeat the command'
        for member in part.group.members or ():
            other = seen.setdefault(member.path, part.key.child)
            if other != part.key.child:
                return (f'clouds {other} and {part.key.child} both have '
                        f'member {member.path}')
            if member.state not in _STATES:
                return (f'cloud {part.key.child} reports an unknown state of '
                        f'member {member.path}')
    return None
