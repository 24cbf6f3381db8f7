# SPDX-License-Identifier: Apache-2.0
"""The wording of an IIS: one reason for each policy, with the contradicting
numbers. Requirements are a part of these reasons or have a separate reason.

All numbers refer to a group that contains only the elements of the IIS.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.marked_text import (
    format_message, joined, MarkedText, policy_message, shortened)
from nova_holistic.model.plan import Reason
from nova_holistic.model.storage_pools import POOL
from nova_holistic.solver.diagnosis.contradiction import CountingTest
from nova_holistic.solver.diagnosis.elements import Element
from nova_holistic.solver.diagnosis.elimination import Elimination, packing
from nova_holistic.solver.diagnosis.iis import IIS
from nova_holistic.solver.diagnosis.numbers import (
    amounts, conditions, quantity)
from nova_holistic.solver.diagnosis.sentences import Sentences
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, Disjoint, MaxDomains, MaxSkew, MinDomains, Shape, shapes)
from nova_holistic.solver.limits.current import diagnosis as limits
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.rows import ScopedPolicy

_ORDER = (CountCap, MaxSkew, MinDomains, Disjoint, MaxDomains)
"""The order in which shapes are preferred."""


def reasons(core: IIS, in_time: InTime = no_limit) -> tuple[Reason, ...]:
    """The reasons of an IIS. They are deterministic."""
    words = _Words(core, in_time)
    if not core.elements:
        return (words.no_hosts_reason(),)
    if not words.structural:
        return tuple(words.elimination())
    return tuple(words.sentences())


def unreduced_reasons(case: Case, conflict: Sequence[ScopedPolicy] | None
                      ) -> tuple[Reason, ...]:
    """Reasons that name the policies and the descriptions, up to a limit, if
    the time is not sufficient to find an IIS.

    :param conflict: policies that counting found to contradict each other
    """
    policies = [each for each in case.policies if each.policy.hard] if (
        conflict is None) else conflict
    requirements = {m.description: m.requirements for m in case.members
                    if amounts(m.requirements) or conditions(m.requirements)}
    result = [Reason.of(each.scope.path, format_message(
        '{} applies to {}', policy_message(each.policy.summary),
        quantity(len(each.scope.members), 'member')))
        for each in policies[:limits().named_policies]]
    result.extend(Reason.of(path, _requirement_text(requirements[path]))
                  for path in list(requirements)[:limits().named_policies])
    more = max(0, len(policies) - limits().named_policies) + max(
        0, len(requirements) - limits().named_policies)
    if more:
        result.append(Reason.of('', MarkedText(
            f'{more} more policies and descriptions may also contribute')))
    return tuple(result)


class _Words:
    """The policies of an IIS, by the shapes of their rows, and its
    requirements."""

    def __init__(self, core: IIS, in_time: InTime):
        self.core = core
        self.case = core.case
        self._in_time = in_time
        self._bare = shapes(core.bare.rules, in_time)
        found = shapes(self.case.rules, in_time)
        self.count = CountingTest(self.case, found, in_time)
        self.structural: list[tuple[ScopedPolicy, list[Shape]]] = []
        self.forbidding: list[ScopedPolicy] = []
        for carried in self.case.policies:
            if not carried.policy.hard:
                continue
            own_shapes = [s for s in found if s.carried is carried]
            main = _main(own_shapes)
            only_caps = own_shapes and all(
                isinstance(s, CountCap) for s in own_shapes)
            if not main and only_caps and self._closes(carried):
                self.forbidding.append(carried)
            else:
                self.structural.append((carried, main))
        self.structural.sort(key=lambda each: _rank(each[1]))
        asking = {e.at for e in core.elements if not e.is_policy}
        self.requirements: dict[str, Requirements] = {}
        self.members: dict[str, int] = {}
        for member in self.case.members:
            if member.description in asking:
                self.requirements[member.description] = member.requirements
                self.members[member.description] = self.members.get(
                    member.description, 0) + 1

    def no_hosts_reason(self) -> Reason:
        """The reason if even a group without policies and requirements has no
        plan."""
        if not len(self.case.table):
            return Reason.of('', MarkedText('the inventory has no hosts'))
        pools = [h for h in self.case.table.hosts if POOL in h.traits]
        if any(POOL in member.requirements.required_traits
               for member in self.case.members) and not any(
                   pool.enabled for pool in pools):
            return Reason.of('', MarkedText(
                'no storage pool is enabled' if pools
                else 'the inventory has no storage pools'))
        return Reason.of('', MarkedText('no host is enabled'))

    def elimination(self) -> list[Reason]:
        """The reasons if the policies of the IIS only exclude hosts."""
        elimination = Elimination(self.case.table)
        found = list(elimination.policies(self.forbidding, self._permitted))
        if len(self.requirements) == 1:
            (path, requirements), = self.requirements.items()
            found.append(elimination.description(
                path, self.members[path], requirements))
        elif self.requirements:
            found.extend(
                Reason.of(path, format_message('requires hosts {}', where))
                for path, requirements in self.requirements.items()
                if (where := conditions(requirements)))
            found.append(packing(self.case, self.members))
        return found

    def sentences(self) -> list[Reason]:
        """The reasons if some policy of the IIS does more than exclude hosts.
        Policies with contradicting numbers come first."""
        sentences = Sentences(
            self.case, self.count, self.requirements, bool(self.forbidding),
            [s for _, own_shapes in self.structural for s in own_shapes
             if isinstance(s, MaxDomains)])
        found = sorted(
            (self._sentence(sentences, each, own_shapes)
             for each, own_shapes in self.structural),
            key=lambda each: not each[0])
        result = [reason for _, reason in found]
        if not any(contradictory for contradictory, _ in found):
            self._add_example(result)
        for each in self.forbidding:
            elimination = Elimination(self.case.table)
            result.extend(elimination.policies([each], self._permitted))
        result.extend(Reason.of(path, _requirement_text(requirements))
                      for path, requirements in self.requirements.items()
                      if path not in sentences.stated_paths)
        return result

    def _add_example(self, result: list[Reason]) -> None:
        """Move the reason without countable numbers to the front. Add what a
        plan made without the policy would violate."""
        each, own_shapes = self.structural[-1]
        result.insert(0, result.pop())
        if not self.forbidding and (not own_shapes or isinstance(
                own_shapes[0], MaxSkew)):
            result[0] = self._with_example(result[0], each)

    def _sentence(self, sentences: Sentences, each: ScopedPolicy,
                  own_shapes: list[Shape]) -> tuple[bool, Reason]:
        """The reason of one policy, and whether its numbers are a
        contradiction."""
        broken = self._broken(each)
        sentences.contradictory = bool(broken)
        text = broken or sentences.of(each, own_shapes)
        if not sentences.contradictory and own_shapes and isinstance(
                own_shapes[0], Disjoint) and self._closes(each):
            enabled = self.case.table.enabled
            left = int((enabled & self._permitted(each)).sum())
            text = format_message(
                '{}, and leaves {}', text, Elimination(self.case.table).part(
                    left, int(enabled.sum())))
        return sentences.contradictory, Reason.of(each.scope.path, text)

    def _permitted(self, each: ScopedPolicy) -> np.ndarray:
        """Hosts that the policy permits for members without requirements."""
        bare = self.core.bare
        same = next(other for other in bare.policies
                    if other.policy is each.policy
                    and other.scope.path == each.scope.path)
        count = CountingTest(bare, [s for s in self._bare
                                    if s.carried is same],
                             self._in_time)
        inside = {m.path for m in same.scope.members}
        classes = [c for c, each in enumerate(bare.classes)
                   if any(m.path in inside for m in each.members)]
        return (count.room[classes] > 0).any(axis=0)

    def _closes(self, each: ScopedPolicy) -> bool:
        """Whether the policy excludes any enabled host for its members."""
        return bool((self.case.table.enabled & ~self._permitted(each)).any())

    def _broken(self, each: ScopedPolicy) -> MarkedText:
        """The violation of a policy by members that are already placed."""
        hosts = self.case.table.hosts
        existing = {path: hosts[h] for path, h in self.case.placed.items()}
        if not any(m.path in existing for m in each.scope.members):
            return MarkedText()
        found = each.policy.check(each.scope, existing, self.case.snapshot)
        if not found.messages:
            return MarkedText()
        return format_message(
            '{} is violated by members that are already placed: {}',
            policy_message(each.policy.summary),
            shortened(policy_message(found.messages[0]), limits().text_length))

    def _with_example(self, reason: Reason, each: ScopedPolicy) -> Reason:
        """Add what a plan made without the policy violates."""
        for where in self._without(each):
            found = each.policy.check(each.scope, where, self.case.snapshot)
            if found.messages:
                return Reason.of(reason.at, format_message(
                    '{}; without it, for example, {}', reason.text,
                    shortened(policy_message(found.messages[0]),
                              limits().text_length)))
        return reason

    def _without(self, each: ScopedPolicy) -> list[Mapping[str, Host]]:
        return [where for element, where in self.core.without.items()
                if element.is_policy and self._is(element, each)]

    @staticmethod
    def _is(element: Element, each: ScopedPolicy) -> bool:
        return element.at == each.scope.path and any(
            rule == each.policy for rule in each.scope.group.rules)


def _main(own_shapes: Sequence[Shape]) -> list[Shape]:
    """The main shapes of the policy, without those that only exclude hosts."""
    return [shape for kind in _ORDER for shape in own_shapes
            if isinstance(shape, kind) and (
                kind is not CountCap or any(shape.limits.values()))]


def _rank(own_shapes: Sequence[Shape]) -> int:
    return next((i for i, kind in enumerate(_ORDER)
                 if own_shapes and isinstance(own_shapes[0], kind)),
                len(_ORDER))


def _requirement_text(requirements: Requirements) -> MarkedText:
    resources, where = amounts(requirements), conditions(requirements)
    if where and not resources:
        return format_message('requires hosts {}', where)
    return format_message('requests {}', joined(' on hosts ', (
        each for each in (resources or 'a host', where) if each)))
