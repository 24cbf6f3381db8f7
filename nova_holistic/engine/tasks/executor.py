# SPDX-License-Identifier: Apache-2.0
"""The sequence of steps by which the places of a group's members change.

Every change takes the same steps: plan, write, hold, check, accept or undo.

1. Plan the members on the cached snapshot of the cloud.
2. Write the new holds in the journal.
3. Hold the places in Placement.
4. Check the policies of all groups, because Placement does not know them.
   Reserve the traffic of the group on uplinks.
5. Accept the places in the table, or undo the holds.

If the capacity is no longer available, or if the cloud or the group has
changed since the plan, the holds are undone, and the sequence starts again.
The hosts of the holds are then read again. After a second refusal, the whole
cloud is read again.
"""

import abc

from oslo_log import log as logging
import tenacity

from nova_holistic import crash_points
from nova_holistic.engine.decision.link_use import LinkUse
from nova_holistic.engine.decision.planning_request import NotPlanned
from nova_holistic.engine.decision import storage_pools
from nova_holistic.engine import errors
from nova_holistic.engine.proposal import PlannerComponents, Proposal
from nova_holistic.engine.provider_choice import ProviderChoice
from nova_holistic.engine import reasons
from nova_holistic.engine.tasks.journal import Journal
from nova_holistic.holds import errors as hold_errors
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import GroupRecord, GroupStatus

LOG = logging.getLogger(__name__)

REFUSALS = (hold_errors.CapacityUnavailable, errors.OutdatedPlan)
"""Errors after which the sequence starts again."""


class Change(abc.ABC):
    """One kind of change, with its implementation of each step.

    :ivar record: the group
    :ivar journal: the journal of the change
    :ivar exhausted: message for users if all attempts fail; it may contain
        ``{attempts}``
    """

    record: GroupRecord
    journal: Journal
    exhausted: str

    @abc.abstractmethod
    def propose(self) -> Proposal | None:
        """Plan on the cached snapshot.

        :returns: None if there is nothing to change
        :raises NotPlanned: no plan exists
        :raises InvalidDocument: the cloud has no such flavor or level
        """

    @abc.abstractmethod
    def write(self, proposal: Proposal) -> None:
        """Write the holds of the proposal in the journal.

        :raises OutdatedPlan: the members have changed since the plan
        :raises OwnershipLost: the group belongs to another engine
        """

    def hold(self, proposal: Proposal) -> Proposal:
        """Hold the places of the proposal.

        :returns: the proposal with the places that are held
        :raises CapacityUnavailable: the capacity is no longer available
        """
        self.journal.put(proposal.members)
        return proposal

    @abc.abstractmethod
    def accept(self, proposal: Proposal) -> None:
        """Accept the proposal: the members can be claimed at their new places.

        :raises OutdatedPlan: the members have changed since the plan
        :raises OwnershipLost: the group belongs to another engine
        """

    def drop_unneeded(self, proposal: Proposal) -> None:
        """Drop the holds that no member needs after the change."""


class Executor:
    """Carries out changes. If the process crashes at any point, no hold
    remains without a row or a task that names it."""

    def __init__(self, parts: PlannerComponents):
        self._parts = parts
        self._link_use = LinkUse(parts.table, parts.policy_types)

    def carry_out(self, change: Change) -> Proposal | None:
        """Carry out all steps of a change. After a refusal, start again, up to
        ``[planner] attempts`` times in total.

        :returns: the accepted proposal; None if there was nothing to change
        :raises NotPlanned: no plan exists, or no attempt succeeded
        :raises InvalidDocument: the cloud has no such flavor or level
        :raises HoldsError: Placement does not respond
        :raises TableError: the table does not respond; the change may have
            been accepted
        :raises OwnershipLost: the group belongs to another engine
        """
        choice = ProviderChoice(self._parts)
        return tenacity.Retrying(
            stop=tenacity.stop_after_attempt(
                self._parts.conf.planner.attempts),
            retry=tenacity.retry_if_exception_type(REFUSALS),
            after=lambda state: self._refused(change, state),
            retry_error_callback=lambda state: _end(change, state),
        )(self._attempt, change, choice)

    def _attempt(self, change: Change,
                 choice: ProviderChoice) -> Proposal | None:
        proposal = change.propose()
        if proposal is None:
            return None
        proposal = choice.with_allocations(proposal)
        change.write(proposal)
        crash_points.reached('change.written')
        try:
            proposal = change.hold(proposal)
            crash_points.reached('change.held')
            self._check(proposal)
            self._reserve_links(change.record, proposal)
            change.accept(proposal)
            crash_points.reached('change.accepted')
        except table_errors.TableError:
            # The change may have been accepted. The table shows this when it
            # responds again.
            raise
        except BaseException as error:
            change.journal.undo(error)
            crash_points.reached('change.undone')
            raise
        for warning in proposal.decision.plan.warnings:
            LOG.warning('Group %s: %s', change.record.uuid, warning.message)
        change.drop_unneeded(proposal)
        crash_points.reached('change.finished')
        self._link_use.settle(change.record.uuid, proposal.decision.group)
        return proposal

    def _refused(self, change: Change,
                 state: tenacity.RetryCallState) -> None:
        LOG.info('Attempt %d to change group %s failed: %s',
                 state.attempt_number, change.record.uuid,
                 state.outcome.exception())
        if state.attempt_number > 1:
            self._parts.snapshot_planner.invalidate()

    def _check(self, proposal: Proposal) -> None:
        planner = self._parts.snapshot_planner
        objections = planner.objections(
            proposal.request, proposal.decision,
            [member.place.host for member in proposal.members],
        ) or storage_pools.objections(proposal.volumes, lambda: planner.usable(
            proposal.request, planner.cached_snapshot(()))[0])
        if objections:
            raise errors.OutdatedPlan(objections[0].message)

    def _reserve_links(self, record: GroupRecord, proposal: Proposal) -> None:
        objections = self._link_use.reserve(
            record.uuid, proposal.decision,
            lambda: self._parts.snapshot_planner.on_cached_snapshot(
                lambda cloud: cloud, proposal.request),
            new=record.status == GroupStatus.PLANNING)
        if objections:
            raise errors.OutdatedPlan(objections[0].message)


def _end(change: Change, state: tenacity.RetryCallState) -> None:
    refusal = state.outcome.exception()
    raise NotPlanned(GroupStatus.ERROR, [reasons.with_detail(
        change.exhausted.format(attempts=state.attempt_number), refusal)]
    ) from refusal
