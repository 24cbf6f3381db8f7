# SPDX-License-Identifier: Apache-2.0
"""New places for members whose planned hosts no longer have capacity.

The cached snapshot of a plan may be out of date, and Placement then refuses a
part of its holds. The hosts of that part are read again, with the providers
that share their resources with them. Only members that no longer fit are
planned again, and all other members stay at their planned places, whether they
are already held or not. If this is not possible, the whole group is planned
again; also if members use providers below their root providers, because
Placement does not know the holds that are not written yet when it proposes
such providers.
"""

from collections.abc import Collection, Mapping, Sequence
from collections import Counter
from dataclasses import replace
import math
import uuid

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.decision.planning_request import CheckedPlan
from nova_holistic.engine.decision.usable_snapshot import with_members_added
from nova_holistic.engine import member_rows
from nova_holistic.engine.proposal import PlannerComponents, Proposal
from nova_holistic.engine.provider_choice import ProviderChoice
from nova_holistic.engine.tasks.journal import RowJournal
from nova_holistic.engine import volume_rows
from nova_holistic.holds.allocation_bodies import allocations
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.plan import Plan
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import MemberRecord

LOG = logging.getLogger(__name__)


def hold(parts: PlannerComponents, journal: RowJournal,
         proposal: Proposal) -> Proposal:
    """Hold the places of a proposal. If some no longer have capacity, hold
    other places for their members.

    :returns: the proposal with the places that are held
    :raises CapacityUnavailable: the whole group must be planned again; nothing
        is held
    :raises OutdatedPlan: the members have changed since the plan
    :raises OwnershipLost: the group belongs to another engine
    """
    replan = CapacityReplan(parts, journal, proposal)
    journal.put(proposal.members, replan)
    return replan.proposal


class CapacityReplan:
    """Chooses other places after a refusal. An instance is the argument
    ``replan`` of ``HoldClient.put``.

    It plans at most ``[planner] attempts`` times. After the second refusal,
    the hosts of all members that are not held are read again.

    :ivar proposal: the proposal with the current places of the members
    """

    def __init__(self, parts: PlannerComponents, journal: RowJournal,
                 proposal: Proposal):
        self.proposal = proposal
        self._parts = parts
        self._journal = journal
        self._choice = ProviderChoice(parts)
        self._attempts = 0

    def __call__(self, held: Collection[str], refused: Collection[str]
                 ) -> Sequence[MemberRecord] | None:
        """Choose other places for members whose hosts no longer have capacity.

        :param held: holds that are written
        :param refused: holds of the part that Placement refused
        :returns: all members to hold in addition to the held members; None if
            the whole group has to be planned again
        :raises OutdatedPlan: the members have changed since the plan
        :raises OwnershipLost: the group belongs to another engine
        """
        if self._attempts == self._parts.conf.planner.attempts or (
                _use_nested_providers(self.proposal)):
            return None
        self._attempts += 1
        known = frozenset(held)
        waiting = [m for m in self.proposal.members if m.hold not in known]
        suspect = waiting if self._attempts > 1 else [
            m for m in waiting if m.hold in refused]
        try:
            found = self._planned(waiting, {m.place.provider for m in suspect})
        except table_errors.TableError:
            raise
        except exceptions.HolisticError as error:
            LOG.info('Group %s is planned again as a whole: %s',
                     self.proposal.request.uuid, error)
            return None
        if found is None:
            return None
        self._move(*found)
        return [m for m in self.proposal.members if m.hold not in known]

    def _planned(self, waiting: Sequence[MemberRecord],
                 suspect: Collection[str]
                 ) -> tuple[CheckedPlan, Mapping[str, MemberRecord]] | None:
        """A plan, and the members that it moves with their new places, by
        their previous holds; None if all members or none would move, or if
        more preferences would be violated than before.

        :param waiting: members that are not held
        :param suspect: providers to read again
        """
        snapshot_planner = self._parts.snapshot_planner
        request = self.proposal.request
        cloud = snapshot_planner.cached_snapshot(suspect)
        moving = members_without_capacity(waiting, cloud)
        away = {m.hold for m in moving}
        unmoved = [m for m in self.proposal.members if m.hold not in away]
        if not moving or not unmoved:
            return None
        request = replace(
            request,
            placed={**request.placed,
                    **{m.member.path: m.place.host for m in unmoved},
                    **volume_rows.pools(self.proposal.volumes)},
            volumes=(*request.volumes, *self.proposal.volumes),
            remembered=[*request.remembered,
                        *(member_rows.host_of(m.place) for m in unmoved)])
        held = with_members_added(
            cloud, [m for m in waiting if m.hold not in away])
        decision = snapshot_planner.decide(
            request, usable=snapshot_planner.usable(request, held))
        if not _is_as_good(decision, self.proposal.decision):
            LOG.info('Group %s is planned again as a whole, because more '
                     'preferences would be violated otherwise', request.uuid)
            return None
        return decision, self._with_places(decision, moving)

    def _with_places(self, decision: CheckedPlan,
                     moving: Sequence[MemberRecord],
                     ) -> Mapping[str, MemberRecord]:
        """Members with the places of a plan, by their previous holds.

        :raises OutdatedPlan: a host cannot serve its members
        """
        hosts = decision.plan.hosts()
        used = {hosts[m.member.path] for m in moving}
        places = {host.name: member_rows.place_of(host)
                  for host in decision.snapshot.hosts if host.name in used}
        now = self._parts.clock()
        moved = self._choice.with_allocations(replace(
            self.proposal, decision=decision, members=[
                replace(m, place=places[hosts[m.member.path]],
                        hold=str(uuid.uuid4()), updated_at=now)
                for m in moving])).members
        return dict(zip((m.hold for m in moving), moved))

    def _move(self, decision: CheckedPlan,
              moved: Mapping[str, MemberRecord]) -> None:
        """Write the new places of members to the table and to the proposal.

        :raises OutdatedPlan: the members have changed since the plan
        :raises OwnershipLost: the group belongs to another engine
        """
        journal = self._journal
        journal.move(moved)
        crash_points.reached('holds.members-moved')
        self.proposal = replace(
            self.proposal,
            decision=replace(decision, plan=_without_bound(decision.plan)),
            members=[moved.get(m.hold, m) for m in self.proposal.members])
        LOG.info('%d of %d members of group %s have other places, because '
                 'their hosts had no capacity', len(moved),
                 len(self.proposal.members), self.proposal.request.uuid)


def members_without_capacity(members: Sequence[MemberRecord],
                             snapshot: Snapshot) -> Sequence[MemberRecord]:
    """Members that do not fit at their places together with the preceding
    members.

    :param members: members whose usage the snapshot does not count
    """
    hosts = {host.uuid: host for host in snapshot.hosts}
    # Several hosts may share a provider.
    taken: Counter[tuple[str, str]] = Counter()
    short = []
    for member in members:
        requested = Counter({
            (provider, name): amount
            for provider, allocation in allocations(member).items()
            for name, amount in allocation['resources'].items()})
        if _fits(hosts.get(member.place.provider), requested, taken):
            taken += requested
        else:
            short.append(member)
    return short


def _fits(host: Host | None, requested: Counter[tuple[str, str]],
          taken: Counter[tuple[str, str]]) -> bool:
    """Whether the providers of the host have the requested amounts in addition
    to those that are taken, each by UUID of the provider and resource class.
    """
    if host is None or not host.enabled:
        return False
    known: dict[str, Mapping[str, Inventory]] = {
        host.uuid: host.inventories,
        **{each.uuid: each.inventories for each in host.providers}}
    return all(
        name in known.get(provider, ())
        and taken[provider, name] + amount <= known[provider][name].free
        for (provider, name), amount in requested.items())


def _use_nested_providers(proposal: Proposal) -> bool:
    """Whether some members use providers other than root providers and
    providers that share their resources."""
    used = {uuid for m in proposal.members
            if m.place.allocation is not None
            for uuid in m.place.allocation.resources
            if uuid != m.place.provider}
    return bool(used) and not used.issubset(
        each.uuid for host in proposal.decision.snapshot.hosts
        for each in host.providers if each.sharing)


def _is_as_good(decision: CheckedPlan, before: CheckedPlan) -> bool:
    """Whether no preference is violated more often than in the refused plan.

    The plan must also leave the levels of the group, and whether it is
    exclusive, unchanged: the table already contains these values.
    """
    more = _violations(decision.plan) - _violations(before.plan)
    return not more and (decision.exclusive, decision.snapshot.levels) == (
        before.exclusive, before.snapshot.levels)


def _violations(plan: Plan) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for preference in plan.preferences:
        found[preference.policy, preference.at] += preference.violations
    return found


def _without_bound(plan: Plan) -> Plan:
    """The plan without a bound: the solver's bound applies only if the other
    members stay at their places, and no bound of the whole group is known."""
    return replace(plan, objective=replace(
        plan.objective, bound=-math.inf, gap=math.inf))
