# SPDX-License-Identifier: Apache-2.0
"""Sentences about policies: what each policy needs, and what is available."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.cloud_totals import total
from nova_holistic.model.messages.marked_text import (
    format_message, MarkedText, policy_message)
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.diagnosis.contradiction import CountingTest
from nova_holistic.solver.diagnosis.numbers import (
    quantity, requirements_of, room, verb_be)
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, Disjoint, MaxDomains, MaxSkew, MinDomains, Shape)
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.rows import ScopedPolicy

_ONLY = MarkedText('the domain that they are confined to')
"""The place, if members are confined to one domain of the same level."""


class Sentences:
    """The sentences, which are built one after another.

    :ivar stated_paths: paths of descriptions whose requirements were mentioned
    :ivar contradictory: whether the numbers of the last sentence are a
        contradiction
    :param fewer: whether other policies leave fewer hosts
    :param confined: shapes that confine members to one domain
    """

    def __init__(self, case: Case, count: CountingTest,
                 requirements: Mapping[str, Requirements], fewer: bool,
                 confined: Sequence[MaxDomains]):
        self._case = case
        self._count = count
        self._requirements = requirements
        self._fewer = fewer
        self._confined = confined
        self.stated_paths: set[str] = set()
        self.contradictory = False

    def of(self, carried: ScopedPolicy, found: Sequence[Shape]) -> MarkedText:
        """The sentence of the first shape with contradicting numbers; if no
        shape has such numbers, the sentence of the first shape."""
        first, before, kept = None, set(self.stated_paths), self.stated_paths
        for shape in found or (None,):
            self.stated_paths = set(before)
            sentence = self._of_one(carried, shape)
            if self.contradictory:
                return sentence
            if first is None:
                first, kept = sentence, self.stated_paths
        self.stated_paths = kept
        return first

    def _of_one(self, carried: ScopedPolicy,
                shape: Shape | None) -> MarkedText:
        name = policy_message(carried.policy.summary)
        if isinstance(shape, CountCap):
            if self._case.table.is_subset(shape.level):
                return self._some_hosts(name, shape)
            return self._cap(name, shape)
        if isinstance(shape, MinDomains):
            return self._min_domains(name, shape)
        if isinstance(shape, MaxSkew):
            return self._max_skew(name, shape)
        if isinstance(shape, Disjoint):
            return self._disjoint(name, shape)
        if isinstance(shape, MaxDomains):
            return self._max_domains(name, shape)
        return format_message('{} cannot be satisfied for {}', name,
                              self._all(carried))

    def _all(self, carried: ScopedPolicy) -> str:
        return quantity(len(carried.scope.members), 'member')

    def _cap(self, name: MarkedText, shape: CountCap) -> MarkedText:
        limit = max(shape.limits.values())
        members = self._count.members(shape.scope)
        needed = -(-members // limit)
        each = f' for {members} members, {limit} in each' if limit > 1 else ''
        count, place = self._best(shape)
        takes = count.takes(shape.scope, shape.level)[:-1]
        here = int(np.count_nonzero(takes))
        if here < needed:
            return format_message('{} needs {}{}; {}', name,
                                  quantity(needed, shape.level),
                                  each, self._available(here, shape, place))
        allowed = count.allowed(shape)
        if allowed < members:
            self.contradictory = True
            where = self._available(here, shape, place)
            return format_message(
                '{} permits {} of {} members, at most {} in each {}; '
                '{}', name, allowed, members, limit, shape.level,
                where)
        return format_message('{} needs {}{}', name,
                              quantity(needed, shape.level), each)

    def _some_hosts(self, name: MarkedText, shape: CountCap) -> MarkedText:
        """Sentence for a limit on hosts that are not a domain of the topology.
        """
        members = self._count.members(shape.scope)
        allowed = self._count.allowed(shape)
        if allowed >= members:
            return format_message('{} applies to {}', name,
                                  quantity(members, 'member'))
        hosts = self._count.takes(shape.scope, HOST)
        available = self._available(int(np.count_nonzero(hosts)),
                                    replace(shape, level=HOST), MarkedText())
        return format_message('{} permits {} of {} members; {}', name, allowed,
                              members, available)

    def _min_domains(self, name: MarkedText, shape: MinDomains) -> MarkedText:
        members = self._count.members(shape.scope)
        needed = format_message('{} needs {}', name,
                                quantity(shape.least, shape.level))
        if members < shape.least:
            self.contradictory = True
            return format_message('{}; there {} {}', needed, verb_be(members),
                                  quantity(members, 'member'))
        count, place = self._best(shape)
        takes = count.takes(shape.scope, shape.level)
        here = sum(takes[n] > 0 for n in shape.domains)
        if here >= shape.least:
            return needed
        return format_message('{}; {}', needed,
                              self._available(int(here), shape, place))

    def _max_skew(self, name: MarkedText, shape: MaxSkew) -> MarkedText:
        count, place = self._best(shape)
        members = self._count.members(shape.scope)
        text = format_message('{} with max_skew {}', name, shape.skew)
        if count.is_uneven(shape):
            self.contradictory = True
            return format_message('{} cannot distribute {} evenly over {}',
                                  text,
                                  quantity(members, 'member'),
                                  total(quantity(len(shape.domains),
                                                 shape.level),
                                        f'the {shape.level}s'))
        fitting = count.skew_capacity(shape)
        if fitting >= members:
            return format_message('{} distributes {} evenly', text,
                                  quantity(members, 'member'))
        self.contradictory = True
        takes = count.takes(shape.scope, shape.level)
        worst = min(sorted(shape.domains), key=lambda n: takes[n])
        domain = self._case.table.division(shape.level).domains[worst]
        resources = self._requested(shape.scope)
        return format_message(
            '{} has room for {} of {} members; {} {:name} takes {}{}',
            text, fitting, members, shape.level, domain,
            int(takes[worst]), resources)

    def _disjoint(self, name: MarkedText, shape: Disjoint) -> MarkedText:
        count, place = self._best(shape)
        needed, here = count.disjoint_domains(shape)
        if here < needed:
            return format_message('{} needs {}; {}', name,
                                  quantity(needed, shape.level),
                                  self._available(here, shape, place,
                                                  shape.other))
        who = 'them' if isinstance(shape.carried.policy, Relationship) else (
            f'{quantity(self._count.members(shape.scope), "member")} and '
            f'{self._count.members(shape.other)} outside the group')
        text = format_message('{} keeps {} in different {}s', name, who,
                              shape.level)
        if sum(isinstance(s, Disjoint) for s in self._count.shapes) < 2:
            return text
        # Each policy alone can be satisfied; together they need more domains
        # than exist.
        here = int(np.count_nonzero(sum(
            count.takes(scope, shape.level)[:-1]
            for scope in (shape.scope, shape.other))))
        available = self._available(here, shape, place, shape.other)
        self.contradictory = False
        return format_message('{}; {}', text, available)

    def _max_domains(self, name: MarkedText, shape: MaxDomains) -> MarkedText:
        members = self._count.members(shape.scope)
        rest = CountingTest(self._case, [
            s for s in self._count.shapes if s.scope != shape.scope
            or isinstance(s, CountCap) and not any(s.limits.values())])
        where = ('one ' + shape.level if shape.most == 1
                 else quantity(shape.most, shape.level))
        most = rest.largest_domains(shape)
        resources = self._requested(shape.scope) if most < members else ''
        if not resources:
            return format_message('{} puts {} into {}', name,
                                  self._both(members), where)
        self.contradictory = True
        return format_message('{} needs {} with room for {}{}; at most {} fit',
                              name, where, self._both(members), resources,
                              most)

    @staticmethod
    def _both(members: int) -> str:
        return f'all {members} members' if members > 2 else (
            'both members' if members == 2 else '1 member')

    def _best(self, shape: Shape) -> tuple[CountingTest, MarkedText]:
        """Counts in the best domain for the shape, and the name of the domain.
        The domain is one of those to which a policy confines the members."""
        inside = {m.path for m in self._members(shape.scope)}
        for other in self._confined:
            if other.carried is shape.carried or other.most != 1 or not (
                    inside <= {m.path for m in self._members(other.scope)}):
                continue
            domains = self._case.table.division(other.level).domains
            tries = [(count, format_message(' of {:name}', domains[n]))
                     for n in sorted(other.domains)
                     if (count := self._count.within(other, n)) is not None]
            if tries and other.level == shape.level:
                return tries[0][0], _ONLY
            if tries:
                return max(tries, key=lambda each: self._rank(each[0], shape))
        return self._count, MarkedText()

    @staticmethod
    def _rank(count: CountingTest, shape: Shape) -> tuple[int, int]:
        takes = count.takes(shape.scope, shape.level)
        return int(np.count_nonzero(takes)), int(takes.sum())

    def _available(self, here: int, shape: Shape, place: MarkedText,
                   other: int | None = None) -> MarkedText:
        """The number of available domains that meet the requirements."""
        self.contradictory = True
        requirements, only = self._asking(shape.scope, other)
        text = room(here, shape.level,
                    MarkedText() if place is _ONLY else place,
                    requirements, only)
        if text:
            return text
        if place is _ONLY:
            return format_message('{} may be used',
                                  total(f'only {here}', 'too few'))
        number = total(f'{here}', 'too few')
        if self._fewer:
            return format_message('{}{} {} left', number, place,
                                  total(verb_be(here), 'are'))
        return (format_message('{} has {}', place.removeprefix(' of '), number)
                if place else format_message('there {}', total(
                    f'{verb_be(here)} {here}', 'are too few')))

    def _requested(self, scope: int) -> MarkedText:
        text = requirements_of(*self._asking(scope), room='')
        return format_message(' of {}', text) if text else MarkedText()

    def _asking(self, scope: int, other: int | None = None) -> tuple[
            dict[str, Requirements], bool]:
        """The requirements, which are marked as mentioned; and whether there
        is only one description."""
        scopes = [scope] if other is None else [scope, other]
        paths = dict.fromkeys(m.description for number in scopes
                              for m in self._members(number))
        requirements = {path: self._requirements[path] for path in paths
                        if path in self._requirements}
        self.stated_paths.update(requirements)
        return requirements, len(paths) == 1

    def _members(self, scope: int):
        return self._case.rules.scopes[scope].members
