# SPDX-License-Identifier: Apache-2.0
"""Plans a group on a snapshot of the cloud, and checks the plan."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from oslo_log import log as logging

from nova_holistic.engine.decision import (
    alternates_search, cached_snapshot, exclusive_hosts, moving_members,
    refused_hosts, solver_metrics, storage_pools)
from nova_holistic.engine.decision.fixed_plan import plan_for_hosts
from nova_holistic.engine.decision.link_use import LinkUse
from nova_holistic.engine.decision.nova_constraints import NovaConstraints
from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.engine.decision.usable_snapshot import (
    claimed_alternates, with_hosts_disabled, with_members_removed,
    with_missing_hosts)
from nova_holistic.engine import reasons
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Plan, Reason, Unknown, Unplaceable
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.solver.check import check
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from nova_holistic.table.records import GroupStatus
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Answer = TypeVar('Answer')
Usable = tuple[Snapshot, Sequence[Reason]]
"""The part of the cloud that a group may use, and reasons for its limits."""


class SnapshotPlanner:
    """Plans groups. Every plan satisfies the hard policies of its group, and
    uses no host that another group reserves."""

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
        self._link_use = LinkUse(table, policy_types)

    def answer(self, request: PlanningRequest) -> Plan | Unplaceable | Unknown:
        """The result of the solver. The decision that no plan exists is made
        on a complete snapshot.

        :raises InvalidDocument: the cloud has no such flavor or level
        """
        started = self._timer()
        return self.on_cached_snapshot(
            lambda cloud: self.answer_on(request, cloud, started)[0], request)

    def answer_on(self, request: PlanningRequest, cloud: Snapshot,
                  started: float
                  ) -> tuple[Plan | Unplaceable | Unknown, Snapshot]:
        """The result of the solver on a snapshot, and the hosts it used."""
        return self._answered(request, self.usable(request, cloud), started)

    def decide(self, request: PlanningRequest, *, usable: Usable | None = None,
               time_limit: float | None = None) -> CheckedPlan:
        """A plan of the members without a place, which was checked.

        :param usable: the result of ``usable`` for this group; None means the
            cached snapshot, or a complete one to decide that no plan exists
        :param time_limit: seconds; None means the configured limit
        :raises NotPlanned: no plan exists, or none was found
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        started = self._timer()
        if usable is not None:
            return self._decided(request, usable, started, time_limit)
        return self.on_cached_snapshot(
            lambda cloud: self._decided(request, self.usable(request, cloud),
                                        started, time_limit), request)

    def _decided(self, request: PlanningRequest, usable: Usable,
                 started: float, time_limit: float | None) -> CheckedPlan:
        restricted, usable = self._without_sources(request, usable)
        plan, snapshot = self._answered(restricted, usable, started,
                                        time_limit)
        if isinstance(plan, Unplaceable):
            raise NotPlanned(GroupStatus.UNPLACEABLE, plan.reasons)
        if isinstance(plan, Unknown):
            raise NotPlanned(GroupStatus.ERROR,
                             [reasons.of_engine(plan.message)])
        bound = bind(self.constrained(restricted, snapshot), snapshot)
        # The check does not rely on the solver.
        violations = check(bound, snapshot, plan.hosts(), request.placed)
        if violations:
            LOG.error('The solver returned an invalid plan for group %s: %s',
                      bound.name, violations)
            raise NotPlanned(GroupStatus.ERROR,
                             mark_names(violations, snapshot))
        refused = moving_members.objections(
            bound, snapshot, plan.hosts(), request.placed, request.sources)
        if refused:
            raise NotPlanned(GroupStatus.UNPLACEABLE, refused)
        return self._decision(request, bound, snapshot, plan)

    def confirm(self, request: PlanningRequest, hosts: Mapping[str, str],
                usable: Usable) -> CheckedPlan:
        """The plan that puts all members on given hosts, which was checked.

        :param hosts: host names of all members of the request by path
        :param usable: the result of ``usable`` for this group
        :raises NotPlanned: a hard policy does not allow these hosts, or they
            lack capacity
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        snapshot = usable[0]
        bound = bind(self.constrained(request, snapshot), snapshot)
        placed = request.placed
        violations = (*check(bound, snapshot, hosts, placed),
                      *moving_members.objections(
                          bound, snapshot, hosts, placed, request.sources))
        if violations:
            raise NotPlanned(GroupStatus.UNPLACEABLE,
                             mark_names(violations, snapshot))
        return self._decision(request, bound, snapshot, plan_for_hosts(
            request, bound, snapshot, hosts))

    def alternates(self, request: PlanningRequest, hosts: Mapping[str, str],
                   given: Mapping[str, Sequence[str]]
                   ) -> Mapping[str, Sequence[Host]]:
        """Alternates for members with places, within the planner's time limit.

        :param request: its members without a fixed place get alternates
        :param hosts: host names of all members of the request by path
        :param given: current alternates of members, by path
        :returns: alternates by path; the best host is first
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        def search(cloud: Snapshot) -> Mapping[str, Sequence[Host]]:
            restricted, (snapshot, _) = self._without_sources(
                request, self.usable(request, cloud))
            bound = bind(self.constrained(restricted, snapshot), snapshot)
            return alternates_search.find(self._conf.planner, PlannedGroup(
                bound, snapshot, plan_for_hosts(
                    request, bound, snapshot, hosts), request.placed),
                given, self._timer)

        return cached_snapshot.try_recent_snapshot(
            self._inventory, search, self._constraints.count_servers(request))

    def _without_sources(self, request: PlanningRequest, usable: Usable
                         ) -> tuple[PlanningRequest, Usable]:
        """The request and the hosts, without hosts near sources of moves."""
        if not request.sources:
            return request, usable
        snapshot, why = usable
        near = moving_members.excluded_hosts(
            bind(self.constrained(request, snapshot), snapshot), snapshot,
            request.placed, request.sources)
        group = refused_hosts.with_forbidden_traits(request.group, near)
        return replace(request, group=group), (
            refused_hosts.with_refusal_traits(snapshot, near),
            [*why, *moving_members.reasons(near)])

    def _decision(self, request: PlanningRequest, bound: Group,
                  snapshot: Snapshot, plan: Plan) -> CheckedPlan:
        return CheckedPlan(
            bind(request.group, snapshot), snapshot, plan,
            exclusive_hosts.reserves(bound, snapshot, plan.hosts()))

    def objections(self, request: PlanningRequest, decision: CheckedPlan,
                   held: Collection[str]) -> Sequence[Reason]:
        """The reasons why the holds of a plan cannot stay.

        Placement checks only capacity. If two groups that exclude each other
        were planned at the same time, this check finds the conflict for at
        least one of them.

        :param held: for each hold, the name of its host
        """
        if not decision.exclusive:
            closed = exclusive_hosts.closed_hosts(
                self._table, self._policy_types, decision.snapshot,
                request.uuid)
            return exclusive_hosts.reserved_for_others(
                closed.intersection(held))
        # Placement allows new servers of others on the reserved hosts.
        self._inventory.mark_providers(exclusive_hosts.reserved(
            decision.group, decision.snapshot, decision.plan.hosts()))
        snapshot = self.usable(request, self._inventory.cached_snapshot())[0]
        hosts = decision.plan.hosts()
        enabled = {h.name for h in snapshot.hosts if h.enabled}
        return mark_names((*check(decision.group, snapshot, hosts, hosts),
                           *exclusive_hosts.closed_or_missing(
                               set(held) - enabled)), snapshot)

    def _answered(self, request: PlanningRequest, usable: Usable,
                  started: float, time_limit: float | None = None
                  ) -> tuple[Plan | Unplaceable | Unknown, Snapshot]:
        """:param started: time of the request by the timer"""
        (snapshot, closed), taken = usable, self._timer() - started
        # Nova may build a claimed member on an alternate without a new claim.
        # So other members use these alternates only if no other plan exists.
        alternative = claimed_alternates(self._table, request)
        if alternative:
            narrowed = with_hosts_disabled(snapshot, alternative)
            answer = self._solve(request, narrowed, time_limit)
            if isinstance(answer, Plan):
                return solver_metrics.with_seconds(answer, taken), narrowed
        answer = self._solve(request, snapshot, time_limit)
        if isinstance(answer, Unplaceable):
            answer = replace(answer, reasons=mark_names(
                (*answer.reasons, *closed), snapshot))
        return solver_metrics.with_seconds(answer, taken), snapshot

    def _solve(self, request: PlanningRequest, snapshot: Snapshot,
               time_limit: float | None) -> Plan | Unplaceable | Unknown:
        conf = self._conf.planner
        with solver_metrics.measured() as outcome:
            return outcome.of(solve(
                self.constrained(request, snapshot), snapshot,
                placed=request.placed, objective=request.objective,
                settings=Settings(solver=conf.solver, time_limit=(
                    time_limit or conf.time_limit))))

    @property
    def has_cache(self) -> bool:
        """Whether ``cached_snapshot`` may be out of date."""
        return self._inventory.has_cache

    def complete(self) -> Snapshot:
        """A complete snapshot of the current state of the cloud."""
        return self._inventory.snapshot()

    def cached_snapshot(self, providers: Collection[str]) -> Snapshot:
        """The cached snapshot with the current state of these providers."""
        self._inventory.mark_providers(providers)
        return self._inventory.cached_snapshot()

    def on_cached_snapshot(self, work: Callable[[Snapshot], Answer],
                           request: PlanningRequest | None = None) -> Answer:
        """The result of ``work`` for the cached snapshot or, after a refusal,
        a complete one. The request is None if it is not known yet."""
        return cached_snapshot.try_cached_snapshot(
            self._inventory, work,
            request is None or self._constraints.count_servers(request))

    def invalidate(self) -> None:
        """Let the next cached snapshot be read completely."""
        self._inventory.invalidate()

    def usable(self, request: PlanningRequest, cloud: Snapshot,
               links_counted: bool = False) -> Usable:
        """The hosts that this group may use, and reasons against the others.

        :param cloud: a snapshot of all hosts
        :param links_counted: whether it has the traffic of other groups
        """
        cloud = storage_pools.read(
            self._inventory, self._table, request, cloud)
        whole = self._constraints.with_nova_rules(
            with_missing_hosts(cloud, request.remembered), request)
        complete = storage_pools.added(request.group, whole)
        closed = exclusive_hosts.closed_hosts(
            self._table, self._policy_types, complete, request.uuid)
        hosts = complete.by_name()
        usable = with_hosts_disabled(with_members_removed(
            whole.without_servers(request.extra_servers),
            request.vacated), closed)
        usable, refusals = self._constraints.marked(usable, request, hosts)
        usable = storage_pools.added(request.group, usable, closed)
        if not links_counted:
            usable = self._link_use.counted(
                request.group, request.uuid, usable)
        return refused_hosts.with_refusal_traits(usable, request.refused), (
            *exclusive_hosts.reasons(closed, hosts), *refusals,
            *refused_hosts.reasons(request.refused, hosts))

    def constrained(self, request: PlanningRequest,
                    snapshot: Snapshot) -> Group:
        """The group whose members avoid hosts that Nova would refuse."""
        return self._constraints.constrained(
            refused_hosts.with_forbidden_traits(
                request.bound_group, request.refused), snapshot)
