# SPDX-License-Identifier: Apache-2.0
"""One sentence a policy: what it needs, and how much of that there is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nova_holistic.model.domain import HOST
from nova_holistic.model.relationship import Relationship
from nova_holistic.model.requirements import Requirements
from nova_holistic.solver.case import Case
from nova_holistic.solver.contradiction import Count
from nova_holistic.solver.numbers import be, many, room
from nova_holistic.solver.rules import Carried
from nova_holistic.solver.shapes import (
    Apart, Cap, Confined, Even, Shape, Wide)

_ONLY = 'the domain that they are confined to'
"""The place, where domains of the level are what members are confined to."""


class Sentences:
    """Made one after another.

    :ivar told: paths of descriptions whose requirements were told
    :ivar at_odds: whether the last one's numbers are a contradiction
    :param fewer: whether other policies leave fewer hosts
    :param confined: what keeps members in one domain
    """

    def __init__(self, case: Case, count: Count,
                 wanted: Mapping[str, Requirements], fewer: bool,
                 confined: Sequence[Confined]):
        self._case = case
        self._count = count
        self._wanted = wanted
        self._fewer = fewer
        self._confined = confined
        self.told: set[str] = set()
        self.at_odds = False

    def of(self, carried: Carried, found: Sequence[Shape]) -> str:
        """By the first shape whose numbers are at odds, or else the first."""
        first, before, kept = None, set(self.told), self.told
        for shape in found or (None,):
            self.told = set(before)
            sentence = self._of_one(carried, shape)
            if self.at_odds:
                return sentence
            if first is None:
                first, kept = sentence, self.told
        self.told = kept
        return first

    def _of_one(self, carried: Carried, shape: Shape | None) -> str:
        name = carried.policy.summary
        if isinstance(shape, Cap):
            if self._case.table.is_subset(shape.level):
                return self._some_hosts(name, shape)
            return self._cap(name, shape)
        if isinstance(shape, Wide):
            return self._wide(name, shape)
        if isinstance(shape, Even):
            return self._even(name, shape)
        if isinstance(shape, Apart):
            return self._apart(name, shape)
        if isinstance(shape, Confined):
            return self._one(name, shape)
        return f'{name} cannot hold for {self._all(carried)}'

    def _all(self, carried: Carried) -> str:
        return many(len(carried.scope.members), 'member')

    def _cap(self, name: str, shape: Cap) -> str:
        limit = max(shape.limits.values())
        members = self._count.members(shape.scope)
        needed = -(-members // limit)
        each = f' for {members} members, {limit} in each' if limit > 1 else ''
        count, place = self._best(shape)
        takes = count.takes(shape.scope, shape.level)[:-1]
        here = int(np.count_nonzero(takes))
        if here < needed:
            return (f'{name} needs {many(needed, shape.level)}{each}; '
                    f'{self._there(here, shape, place)}')
        allowed = count.allowed(shape)
        if allowed < members:
            self.at_odds = True
            where = self._there(here, shape, place)
            return (f'{name} lets in {allowed} of {members} members, at most '
                    f'{limit} in each {shape.level}; {where}')
        return f'{name} needs {many(needed, shape.level)}{each}'

    def _some_hosts(self, name: str, shape: Cap) -> str:
        """Of a limit on hosts that are no domain of the topology."""
        members = self._count.members(shape.scope)
        allowed = self._count.allowed(shape)
        if allowed >= members:
            return f'{name} is for {many(members, "member")}'
        hosts = self._count.takes(shape.scope, HOST)
        there = self._there(int(np.count_nonzero(hosts)),
                            replace(shape, level=HOST), '')
        return f'{name} lets in {allowed} of {members} members; {there}'

    def _wide(self, name: str, shape: Wide) -> str:
        members = self._count.members(shape.scope)
        needed = f'{name} needs {many(shape.least, shape.level)}'
        if members < shape.least:
            self.at_odds = True
            return f'{needed}; there {be(members)} {many(members, "member")}'
        count, place = self._best(shape)
        takes = count.takes(shape.scope, shape.level)
        here = sum(takes[n] > 0 for n in shape.domains)
        if here >= shape.least:
            return needed
        return f'{needed}; {self._there(int(here), shape, place)}'

    def _even(self, name: str, shape: Even) -> str:
        count, place = self._best(shape)
        members = self._count.members(shape.scope)
        told = f'{name} with max_skew {shape.skew}'
        if count.uneven(shape):
            self.at_odds = True
            return (f'{told} cannot share {many(members, "member")} among '
                    f'{many(len(shape.domains), shape.level)}')
        fitting = count.evenly(shape)
        if fitting >= members:
            return f'{told} keeps {many(members, "member")} even'
        self.at_odds = True
        takes = count.takes(shape.scope, shape.level)
        worst = min(sorted(shape.domains), key=lambda n: takes[n])
        domain = self._case.table.division(shape.level).domains[worst]
        asked = self._asked(shape.scope)
        return (f'{told} has room for {fitting} of {members} members; '
                f'{shape.level} {domain} takes {int(takes[worst])}{asked}')

    def _apart(self, name: str, shape: Apart) -> str:
        count, place = self._best(shape)
        needed, here = count.apart(shape)
        if here < needed:
            return (f'{name} needs {many(needed, shape.level)}; '
                    f'{self._there(here, shape, place, shape.other)}')
        who = 'them' if isinstance(shape.carried.policy, Relationship) else (
            f'{many(self._count.members(shape.scope), "member")} and '
            f'{self._count.members(shape.other)} outside the group')
        told = f'{name} keeps {who} in different {shape.level}s'
        if sum(isinstance(s, Apart) for s in self._count.shapes) < 2:
            return told
        # Each alone can hold; together they need more than there are.
        here = int(np.count_nonzero(sum(
            count.takes(scope, shape.level)[:-1]
            for scope in (shape.scope, shape.other))))
        there = self._there(here, shape, place, shape.other)
        self.at_odds = False
        return f'{told}; {there}'

    def _one(self, name: str, shape: Confined) -> str:
        members = self._count.members(shape.scope)
        rest = Count(self._case, [
            s for s in self._count.shapes if s.scope != shape.scope
            or isinstance(s, Cap) and not any(s.limits.values())])
        where = ('one ' + shape.level if shape.most == 1
                 else many(shape.most, shape.level))
        most = rest.roomiest(shape)
        asked = self._asked(shape.scope) if most < members else ''
        if not asked:
            return f'{name} puts {self._both(members)} into {where}'
        self.at_odds = True
        return (f'{name} needs {where} with room for {self._both(members)}'
                f'{asked}; the roomiest takes {most}')

    @staticmethod
    def _both(members: int) -> str:
        return f'all {members} members' if members > 2 else (
            'both members' if members == 2 else '1 member')

    def _best(self, shape: Shape) -> tuple[Count, str]:
        """Counts in the domain that suits the shape best, among those to one
        of which its members are confined; and its name."""
        inside = {m.path for m in self._members(shape.scope)}
        for other in self._confined:
            if other.carried is shape.carried or other.most != 1 or not (
                    inside <= {m.path for m in self._members(other.scope)}):
                continue
            domains = self._case.table.division(other.level).domains
            tries = [(count, f' of {domains[n]}')
                     for n in sorted(other.domains)
                     if (count := self._count.within(other, n)) is not None]
            if tries and other.level == shape.level:
                return tries[0][0], _ONLY
            if tries:
                return max(tries, key=lambda each: self._worth(each[0], shape))
        return self._count, ''

    @staticmethod
    def _worth(count: Count, shape: Shape) -> tuple[int, int]:
        takes = count.takes(shape.scope, shape.level)
        return int(np.count_nonzero(takes)), int(takes.sum())

    def _there(self, here: int, shape: Shape, place: str,
               other: int | None = None) -> str:
        """How many domains there are, that have what is asked for."""
        self.at_odds = True
        told = self._room(here, shape.level, '' if place == _ONLY else place,
                          shape.scope, other)
        if told:
            return told
        if place == _ONLY:
            return f'only {here} may be used'
        if self._fewer:
            return f'{here}{place} {be(here)} left'
        return (f'{place.removeprefix(" of ")} has {here}' if place
                else f'there {be(here)} {here}')

    def _room(self, here: int, noun: str, place: str, scope: int,
              other: int | None = None) -> str:
        wanted, only = self._asking(scope, other)
        self.told.update(wanted)
        return room(here, noun, place, wanted, only)

    def _asked(self, scope: int) -> str:
        told = self._room(1, 'x', '', scope)
        told = told.removeprefix('1 x has ').replace('room for ', '')
        return f' of {told}' if told else ''

    def _asking(self, scope: int, other: int | None) -> tuple[
            dict[str, Requirements], bool]:
        scopes = [scope] if other is None else [scope, other]
        paths = dict.fromkeys(m.description for number in scopes
                              for m in self._members(number))
        wanted = {p: self._wanted[p] for p in paths if p in self._wanted}
        return wanted, len(paths) == 1

    def _members(self, scope: int):
        return self._case.rules.scopes[scope].members
