# SPDX-License-Identifier: Apache-2.0
"""Plans a new group and holds its places."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
import time

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.decision.planning_request import (
    NotPlanned, PlanningRequest)
from nova_holistic.engine.decision import refused_hosts, unused_groups
from nova_holistic.engine import errors
from nova_holistic.engine.fewer_members import FewerMembers
from nova_holistic.engine import member_rows
from nova_holistic.engine.objective_values import objective_value
from nova_holistic.engine.proposal import PlannerComponents, Proposal
from nova_holistic.engine import reasons
from nova_holistic.engine.replan import capacity_replan
from nova_holistic.engine.tasks.executor import Change, Executor
from nova_holistic.engine.tasks.journal import RowJournal
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.engine.update.unneeded_holds import GONE
from nova_holistic.engine import volume_rows
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.table.changes import alternates
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import GroupStatus

LOG = logging.getLogger(__name__)


class Creator:
    """Plans new groups. In all cases, including errors, either all places of a
    group are held or none."""

    def __init__(self, parts: PlannerComponents,
                 timer: Callable[[], float] = time.perf_counter):
        """:param timer: returns seconds, to measure durations"""
        self._parts = parts
        self._sizing = FewerMembers(
            parts.snapshot_planner, parts.conf.planner.time_limit, timer)
        self._executor = Executor(parts)

    def plan(self, ownership: Ownership, group: Group,
             lease: int | None) -> None:
        """Plan and hold a group, or write the reasons for a failure in the
        table.

        Afterwards, the status of the group is no longer planning. There are
        two exceptions: the document cannot be accepted; or the table is
        unavailable, and the group belongs to an engine, which tries again.

        :param lease: lease in seconds; 0 means no lease, None means the
            configured lease
        :raises InvalidDocument: the cloud has no such flavor or level; nothing
            is held, and the table does not contain the error yet
        :raises TableError: the table does not respond
        :raises OwnershipLost: the group belongs to another engine; all changes
            are undone
        """
        creation = _Creation(
            self._parts, self._sizing, ownership, group, lease)
        try:
            if ownership.record.engine is not None:
                creation.journal.recover(ownership)
            self._executor.carry_out(creation)
        except exceptions.InvalidDocument:
            raise
        except NotPlanned as end:
            self.give_up(ownership, end.status, end.reasons)
        except errors.OwnershipLost as lost:
            if ownership.record.engine is not None:
                raise
            self.give_up(ownership, GroupStatus.ERROR,
                         [reasons.of_error(lost)])
        except exceptions.HolisticError as error:
            unanswered = isinstance(error, table_errors.TableError)
            if not unanswered or ownership.record.engine is None:
                self.give_up(
                    ownership, GroupStatus.ERROR, reasons.of_errors(error))
            if unanswered:
                raise
        except BaseException as error:
            self.give_up(ownership, GroupStatus.ERROR, [reasons.of_error(
                error, f'planning failed: {error!r}')])
            raise

    def give_up(self, ownership: Ownership, status: GroupStatus,
                why: Sequence[Reason]) -> None:
        """End planning with a status and reasons, and drop all holds. The
        reconciler drops the holds that cannot be dropped now.

        Placement may have carried out a request without a response, so every
        hold in the rows is dropped.

        :raises OwnershipLost: the group belongs to another engine, which
            continues its planning
        """
        record, table = ownership.record, self._parts.table
        try:
            members = table.members(record.uuid)
            volume_rows.forget(table, record)
            try:
                ownership.finish(status=status,
                                 reasons=[r.to_row() for r in why])
            except errors.OwnershipLost:
                # The reconciler gave up a caller's group before its holds were
                # written. They are dropped here.
                if record.engine is not None:
                    raise
            crash_points.reached('failure.finished')
            table.release([m.hold for m in members], self._parts.clock())
            crash_points.reached('failure.rows-released')
            # These include members that the reconciler released before their
            # holds were written.
            unwanted = [m.hold for m in table.members(record.uuid)
                        if m.state in GONE]
            self._parts.holds.drop(
                unwanted, record.project_id, record.user_id)
            crash_points.reached('failure.holds-dropped')
            table.forget_holds(unwanted)
        except errors.OwnershipLost:
            raise
        except exceptions.HolisticError:
            LOG.exception('Group %s is left to the reconciler', record.uuid)


class _Creation(Change):
    """The creation of a group, in which all members and rows are new."""

    exhausted = 'the plan was outdated {attempts} times before it was held'
    journal: RowJournal

    def __init__(self, parts: PlannerComponents, sizing: FewerMembers,
                 ownership: Ownership, group: Group, lease: int | None):
        self._parts = parts
        self._sizing = sizing
        self._ownership = ownership
        self._group = group
        self._lease = lease
        self._missing: Sequence[Mapping[str, str]] = ()
        self.record = ownership.record
        self.journal = RowJournal(
            self.record, parts.table, parts.holds, ownership)

    def propose(self) -> Proposal:
        parts, record = self._parts, self.record
        request = PlanningRequest(
            self._group, record.objective, record.uuid,
            refused=refused_hosts.read(
                parts.conf, parts.table, record.uuid, parts.clock()),
            project_id=record.project_id,
            server_groups=parts.table.bindings.server_groups(record.uuid))
        unused_groups.must_be_known(parts.snapshot_planner, self._group)
        sized = self._sizing.decide(request)
        self._missing = [reason.to_row() for reason in sized.reasons]
        decision = sized.decision
        plan = (record.uuid, decision.group, decision.snapshot, decision.plan,
                parts.clock())
        return Proposal(
            sized.request, decision, member_rows.planned_members(*plan),
            volumes=volume_rows.planned_volumes(*plan))

    def write(self, proposal: Proposal) -> None:
        self.journal.write(
            proposal.members, lambda members: self._ownership.write_members(
                members, proposal.volumes, holds_written=0,
                **proposal.decision.group_fields()))

    def hold(self, proposal: Proposal) -> Proposal:
        return capacity_replan.hold(self._parts, self.journal, proposal)

    def accept(self, proposal: Proposal) -> None:
        self._ownership.finish(
            status=GroupStatus.PLANNED, reasons=self._missing,
            objective_value=objective_value(proposal),
            lease_expires_at=self._lease_end(),
            **alternates.due_since(self._parts.clock()))

    def _lease_end(self) -> datetime | None:
        seconds = self._lease
        if seconds is None:
            seconds = self._parts.conf.planner.lease
        return (self._parts.clock() + timedelta(seconds=seconds) if seconds
                else None)
