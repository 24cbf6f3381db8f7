# SPDX-License-Identifier: Apache-2.0
"""Plans a group on a snapshot of the cloud, and checks the plan."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from oslo_log import log as logging

from nova_holistic.engine import exclusive_hosts
from nova_holistic.engine.kept_answers import on_kept
from nova_holistic.engine.known_places import plan_at
from nova_holistic.engine import moving_members
from nova_holistic.engine.nova_constraints import NovaConstraints
from nova_holistic.engine.questions import Decision, NotPlanned, Question
from nova_holistic.engine import reasons
from nova_holistic.engine import refused_hosts
from nova_holistic.engine import solver_metrics
from nova_holistic.engine.usable_snapshot import (
    vacated, with_closed, with_remembered)
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.metrics.instruments import ALTERNATES_SECONDS
from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.marked import tell
from nova_holistic.model.named_reasons import named
from nova_holistic.model.plan import Plan, Reason, Unknown, Unplaceable
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Answer = TypeVar('Answer')
Solved = TypeVar('Solved', Plan, Unplaceable, Unknown)
Usable = tuple[Snapshot, Sequence[Reason]]
"""The part of the cloud that a group may use, and why it may not use all."""


class Decider:
    """Every plan keeps the hard policies of its group, and uses no host that
    another group reserves."""

    def __init__(self, conf, inventory: CloudInventory,
                 table: PlacementTable, policy_types: PolicyTypes,
                 timer: Callable[[], float]):
        """:param timer: returns seconds, to measure durations"""
        self._conf = conf
        self._inventory = inventory
        self._table = table
        self._policy_types = policy_types
        self._timer = timer
        self._constraints = NovaConstraints(
            conf, inventory, table, policy_types)

    def answer(self, question: Question) -> Plan | Unplaceable | Unknown:
        """The answer of the solver. That there is no plan is answered on a
        complete snapshot.

        :raises InvalidDocument: the cloud has no such flavor or level
        """
        started = self._timer()
        return on_kept(self._inventory, lambda cloud: self.answer_on(
            question, cloud, started)[0])

    def answer_on(self, question: Question, cloud: Snapshot, started: float
                  ) -> tuple[Plan | Unplaceable | Unknown, Snapshot]:
        """The same on a snapshot of all hosts, and the part that was used."""
        return self._answered(question, self.usable(question, cloud), started)

    def decide(self, question: Question, *, usable: Usable | None = None,
               time_limit: float | None = None) -> Decision:
        """A plan.

        :param usable: what ``usable`` gave for this group; None is the kept
            snapshot, and a complete one for the answer that there is no plan
        :param time_limit: seconds; None is the configured limit
        :raises NotPlanned: no plan exists, or none was found
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        started = self._timer()
        if usable is not None:
            return self._decided(question, usable, started, time_limit)
        return on_kept(self._inventory, lambda cloud: self._decided(
            question, self.usable(question, cloud), started, time_limit))

    def _decided(self, question: Question, usable: Usable, started: float,
                 time_limit: float | None) -> Decision:
        asked, usable = self._without_sources(question, usable)
        plan, snapshot = self._answered(asked, usable, started, time_limit)
        if isinstance(plan, Unplaceable):
            raise NotPlanned(GroupStatus.UNPLACEABLE, plan.reasons)
        if isinstance(plan, Unknown):
            raise NotPlanned(
                GroupStatus.ERROR, [reasons.of_engine(plan.message)])
        bound = bind(self.constrained(asked, snapshot), snapshot)
        # The check does not rely on the solver.
        violations = check(bound, snapshot, plan.hosts(), question.placed)
        if violations:
            LOG.error('The solver broke a rule of group %s: %s',
                      bound.name, violations)
            raise NotPlanned(
                GroupStatus.ERROR, named(violations, snapshot))
        refused = moving_members.objections(
            bound, snapshot, plan.hosts(), question.placed, question.sources)
        if refused:
            raise NotPlanned(GroupStatus.UNPLACEABLE, refused)
        return self._decision(question, bound, snapshot, plan)

    def confirm(self, question: Question, hosts: Mapping[str, str],
                usable: Usable) -> Decision:
        """The decision that members are on given hosts.

        :param hosts: path to host name of all members of the question
        :param usable: what ``usable`` gave for this group
        :raises NotPlanned: a hard policy does not allow that, or there is no
            room
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        snapshot = usable[0]
        bound = bind(self.constrained(question, snapshot), snapshot)
        violations = (*check(bound, snapshot, hosts, question.placed),
                      *moving_members.objections(
                          bound, snapshot, hosts, question.placed,
                          question.sources))
        if violations:
            raise NotPlanned(
                GroupStatus.UNPLACEABLE, named(violations, snapshot))
        return self._decision(question, bound, snapshot, plan_at(
            question, bound, snapshot, hosts))

    def alternates(self, question: Question, hosts: Mapping[str, str],
                   given: Mapping[str, Sequence[str]]
                   ) -> Mapping[str, Sequence[Host]]:
        """Other hosts for members that are at their places already, found
        within the time limit for planning.

        :param question: those of its members that are not placed get
            alternates
        :param hosts: path to host name of all members of the question
        :param given: alternates that members have, by path
        :returns: path to hosts, the best first
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        conf = self._conf.planner
        asked, (snapshot, _) = self._without_sources(
            question, self.usable(question, self._inventory.kept()))
        bound = bind(self.constrained(asked, snapshot), snapshot)
        with ALTERNATES_SECONDS.timed():
            found = alternates(
                bound, snapshot, plan_at(question, bound, snapshot, hosts),
                conf.alternates, placed=question.placed, given=given,
                time_limit=conf.time_limit, timer=self._timer)
        known = {host.name: host for host in snapshot.hosts}
        return {path: tuple(known[name] for name in names)
                for path, names in found.items()}

    def _without_sources(self, question: Question, usable: Usable
                         ) -> tuple[Question, Usable]:
        """Members keep off hosts from which Nova is moving servers away."""
        if not question.sources:
            return question, usable
        snapshot, why = usable
        near = moving_members.kept_off(
            bind(self.constrained(question, snapshot), snapshot), snapshot,
            question.placed, question.sources)
        group = refused_hosts.kept_away(question.group, near)
        return replace(question, group=group), (
            refused_hosts.marked(snapshot, near),
            [*why, *moving_members.reasons(near)])

    def _decision(self, question: Question, bound: Group, snapshot: Snapshot,
                  plan: Plan) -> Decision:
        return Decision(
            bind(question.group, snapshot), snapshot, plan,
            exclusive_hosts.reserves(bound, snapshot, plan.hosts()))

    def objections(self, question: Question, decision: Decision,
                   held: Collection[str]) -> Sequence[Reason]:
        """Why holds that were put for a plan cannot stay.

        Placement checks capacity and nothing else. If two groups that exclude
        each other were planned at the same time, at least one of them finds
        the other here.

        :param held: for each hold, the name of its host
        """
        if not decision.exclusive:
            closed = exclusive_hosts.closed_hosts(
                self._table, self._policy_types, decision.snapshot,
                question.uuid)
            return [Reason.told('', tell(
                "host {:name} is exclusively another group's", name))
                for name in sorted(closed.intersection(held))]
        # Placement does not know that servers of others came onto the hosts.
        self._inventory.mark_providers(exclusive_hosts.reserved(
            decision.group, decision.snapshot, decision.plan.hosts()))
        snapshot = self.usable(question, self._inventory.kept())[0]
        hosts = decision.plan.hosts()
        enabled = {h.name for h in snapshot.hosts if h.enabled}
        return named([*check(decision.group, snapshot, hosts, hosts),
                      *(Reason.told('', tell(
                          'host {:name} is closed or gone', name))
                        for name in sorted(set(held) - enabled))], snapshot)

    def _promised(self, question: Question) -> frozenset[str]:
        """Hosts on which Nova may still build servers that are claimed."""
        if question.uuid is None or not question.placed:
            return frozenset()
        return frozenset(
            place.host for row in self._table.members(question.uuid)
            if row.state == MemberState.CLAIMED for place in row.alternates)

    def _answered(self, question: Question, usable: Usable, started: float,
                  time_limit: float | None = None
                  ) -> tuple[Plan | Unplaceable | Unknown, Snapshot]:
        """:param started: when the question was received, by the timer"""
        snapshot, closed = usable
        taken = self._timer() - started
        # Nova does not ask again before it builds a claimed member on an
        # alternate. So alternates of claimed members are used only if there
        # is no other plan.
        alternative = (self._promised(question) if question.has_hard_rules
                       else frozenset())
        if alternative:
            narrowed = with_closed(snapshot, alternative)
            answer = self._solve(question, narrowed, time_limit)
            if isinstance(answer, Plan):
                return _with_seconds(answer, taken), narrowed
        answer = self._solve(question, snapshot, time_limit)
        if isinstance(answer, Unplaceable):
            answer = replace(answer, reasons=named(
                (*answer.reasons, *closed), snapshot))
        return _with_seconds(answer, taken), snapshot

    def _solve(self, question: Question, snapshot: Snapshot,
               time_limit: float | None) -> Plan | Unplaceable | Unknown:
        with solver_metrics.measured() as outcome:
            return outcome.of(solve(
                self.constrained(question, snapshot), snapshot,
                placed=question.placed, objective=question.objective,
                solver=self._conf.planner.solver,
                time_limit=time_limit or self._conf.planner.time_limit))

    @property
    def keeps(self) -> bool:
        """See ``CloudInventory``."""
        return self._inventory.keeps

    def complete(self) -> Snapshot:
        """See ``CloudInventory.snapshot``."""
        return self._inventory.snapshot()

    def kept(self, providers: Collection[str]) -> Snapshot:
        """The kept snapshot, with the current state of these providers."""
        self._inventory.mark_providers(providers)
        return self._inventory.kept()

    def on_kept(self, work: Callable[[Snapshot], Answer]) -> Answer:
        """See ``kept_answers.on_kept``."""
        return on_kept(self._inventory, work)

    def distrust(self) -> None:
        """See ``CloudInventory.distrust``."""
        self._inventory.distrust()

    def usable(self, question: Question, cloud: Snapshot) -> Usable:
        """The hosts that this group may use, and why it may not use the
        others.

        :param cloud: a snapshot of all hosts
        """
        whole = self._constraints.informed(
            with_remembered(cloud, question.remembered), question)
        closed = exclusive_hosts.closed_hosts(
            self._table, self._policy_types, whole, question.uuid)
        hosts = {host.name: host for host in whole.hosts}
        usable = with_closed(vacated(
            whole.without_servers(question.guests), question.vacated), closed)
        usable, refusals = self._constraints.marked(usable, question, hosts)
        return refused_hosts.marked(usable, question.refused), (
            *exclusive_hosts.reasons(closed, hosts), *refusals,
            *refused_hosts.reasons(question.refused, hosts))

    def constrained(self, question: Question, snapshot: Snapshot) -> Group:
        """The group whose members avoid hosts that Nova would refuse."""
        return self._constraints.constrained(refused_hosts.kept_away(
            question.bound_group, question.refused), snapshot)


def _with_seconds(answer: Solved, snapshot: float) -> Solved:
    total = answer.seconds.get('total', 0.0) + snapshot
    return replace(answer, seconds=FrozenMapping(
        {**answer.seconds, 'snapshot': snapshot, 'total': total}))
