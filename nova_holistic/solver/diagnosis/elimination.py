# SPDX-License-Identifier: Apache-2.0
"""Elimination of hosts: conditions are applied one after another until too few
hosts are left for the members."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.cloud_totals import part, total
from nova_holistic.model.messages.marked_text import (
    format_message, joined, MarkedText, policy_message)
from nova_holistic.model.plan import Reason
from nova_holistic.solver.diagnosis.numbers import amounts, quantity
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.eligibility import (
    demands, Eligibility, HostCondition, total_demand)
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rows import ScopedPolicy

PermittedHosts = Callable[[ScopedPolicy], np.ndarray]
"""Hosts that a policy permits for its members if no other condition exists."""


class Elimination:
    """Reasons by elimination: first policies, then the requirements of
    members. Each reason states how many hosts it leaves."""

    def __init__(self, table: HostTable):
        self._table = table
        self._left = table.enabled.copy()
        self._before: int | None = None

    def policies(self, found: Sequence[ScopedPolicy],
                 permitted: PermittedHosts) -> Iterator[Reason]:
        """One reason for each policy, in this order."""
        for each in found:
            before = self._before
            number = int(self._left.sum())
            self._left &= permitted(each)
            self._before = int(self._left.sum())
            summary = policy_message(each.policy.summary)
            yield Reason.of(each.scope.path, (
                format_message('{} leaves {}', summary,
                               self.part(self._before, number)
                               if before is None else
                               _part_of_these(self._before, number))
                if number > 1 or before is None else
                format_message('{} excludes that host', summary)))

    def description(self, path: str, members: int,
                    requirements: Requirements) -> Reason:
        """The reason with the requirements of a description for the remaining
        hosts.

        :param path: path of the description
        :param members: number of its members
        """
        steps = [test for test in Eligibility(self._table).tests(replace(
            requirements, resources=FrozenMapping()))][1:]
        parts = []
        for test in steps:
            before, self._left = self._left, self._left & test.passed
            parts.append(self._step(test, int(before.sum())))
            self._before = int(self._left.sum())
        if demands(requirements):
            parts.append(self._room(members, requirements))
        return Reason.of(path, joined('; ', parts))

    def _step(self, test: HostCondition, before: int) -> MarkedText:
        return format_message('{}{:name}', self._what(test, before), test.name)

    def _what(self, test: HostCondition, before: int) -> str:
        """The number of remaining hosts and the requirement that they meet,
        without the name at the end of the requirement.

        :param before: number of remaining hosts before this requirement
        """
        now = int(self._left.sum())
        verb = test.requirement.removesuffix(test.name)
        if self._before is None:
            if not now:
                off = (test.passed & ~self._table.enabled).any()
                return f'no {"enabled " if off else ""}host {verb}'
            return joined(' ', (self.part(now, before), _plural(verb, now)))
        if before == 1:
            return f'this host {_not(verb)}' if not now else f'and {verb}'
        return joined(' ', (_part_of_these(now, before), _plural(verb, now)))

    def part(self, number: int, of: int) -> MarkedText:
        """``3 of 6 hosts``, or ``3 of 6 enabled hosts``."""
        return part(number, of, '' if self._table.enabled.all() else 'enabled')

    def _room(self, members: int, requirements: Requirements) -> MarkedText:
        left = self._left
        room = Eligibility(self._table).room(requirements, members)
        takes = int(np.where(left, room, 0).sum())
        which = {None: 'the hosts have', 1: 'that host has'}.get(
            self._before, format_message(
                '{} have', total(f'these {self._before}', 'these')))
        if takes:
            return format_message(
                '{} {} {}; {} room for {}', quantity(members, 'member'),
                'needs' if members == 1 else 'each need',
                amounts(requirements), which, takes)
        if len(demands(requirements)) > 1:
            return format_message('{} has {} free at the same time',
                                  self._none(), amounts(requirements))
        (name, amount), = demands(requirements)
        column = self._table.amounts(name)
        if not (left & column.offered).any():
            return format_message('{} offers {}', self._none(), name)
        if not (left & column.accepts(amount)).any():
            return format_message(
                '{} allows {} {} in one allocation (min_unit, max_unit, '
                'step_size)', self._none(), name, amount)
        most = int(column.free[left & column.accepts(amount)].max().clip(0))
        where = 'on a host' if self._before is None else 'there'
        return MarkedText(f'needs {name} {amount}; the largest free amount '
                          f'{where} is {most}')

    def _none(self) -> str:
        if self._before is None:
            return 'no host'
        return (_part_of_these(0, self._before) if self._before > 1
                else 'not even that host')


def _part_of_these(number: int, of: int) -> MarkedText:
    return total(f'{number or "none"} of these {of}',
                 f'{"part" if number else "none"} of these')


def packing(case: Case, found: Mapping[str, int]) -> Reason:
    """The reason for members of several descriptions that fit separately but
    not together.

    :param found: number of members of each description, by path
    """
    usable = (case.room > 0).any(axis=0)
    demand = total_demand(
        member for each in case.classes for member in each.members)
    free = {name: case.table.amounts(name).free[usable].clip(0)
            for name in demand}
    at, members = ', '.join(found), sum(found.values())
    alone = int(usable.sum()) == 1
    noun = 'host' if alone else 'hosts'
    hosts = total(f'the {int(usable.sum())} {noun}', f'the {noun}')
    for name, amount in sorted(demand.items()):
        available = int(free[name].sum())
        if amount > available:
            which = _with_room(case, usable, name) or (
                'that suits them' if alone else 'that suit them')
            return Reason.of(at, format_message(
                'the {} members need {} {} in all; {} {} {} {} free', members,
                name, amount, hosts, which, 'has' if alone else 'have',
                available))
    parts = ', '.join(
        f'{name} {amount} of {int(free[name].sum())} free (at most '
        f'{int(free[name].max())} on one host)'
        for name, amount in sorted(demand.items()))
    return Reason.of(at, format_message(
        'the {} members do not fit together on {}: they need {}', members,
        total(hosts.removeprefix('the '), f'the {noun}'), parts))


def _with_room(case: Case, usable: np.ndarray, name: str) -> str:
    """``with room for VCPU 1``, if another resource class excludes members
    from hosts with a free amount of the class; else empty.

    Members are named if others do not request the other class.

    :param usable: mask of the hosts with room for one of the members
    """
    eligibility = Eligibility(case.table)
    left = ~usable & (case.table.amounts(name).free > 0)
    parts = []
    for other in sorted({each for some in case.classes
                         for each, _ in some.demands} - {name}):
        column = case.table.amounts(other)
        asking: dict[int, set[str]] = {}
        excludes = False
        for each in case.classes:
            amount = dict(each.demands).get(other)
            if amount is None:
                continue
            asking.setdefault(amount, set()).update(
                m.description for m in each.members)
            takes = column.accepts(amount) & (column.free >= amount)
            suits = eligibility.suitable(replace(
                each.requirements, resources=FrozenMapping()))
            excludes |= bool((left & suits & ~takes).any())
        if not excludes:
            continue
        if all(other in dict(each.demands) for each in case.classes):
            parts.append(f'{other} {min(asking)}')
        else:
            parts.extend(f'{other} {amount} ({", ".join(sorted(paths))})'
                         for amount, paths in sorted(asking.items()))
    return f'with room for {", ".join(parts)}' if parts else ''


def _plural(verb: str, number: int) -> str:
    if number <= 1:
        return verb
    return 'are ' + verb[3:] if verb.startswith('is ') else (
        'have ' + verb[4:] if verb.startswith('has ') else verb)


def _not(verb: str) -> str:
    for start, instead in (('is without ', 'has '), ('is ', 'is not '),
                           ('has ', 'lacks ')):
        if verb.startswith(start):
            return instead + verb.removeprefix(start)
    return f'does not meet: {verb}'
