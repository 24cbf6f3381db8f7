# SPDX-License-Identifier: Apache-2.0
"""Lists the actions that the servers of an updated group require, and carries
them out if the client has requested this."""

from collections.abc import Callable, Mapping, Sequence
import time
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.engine.decision.link_use import with_other_groups
from nova_holistic.engine.decision import refused_hosts
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine import errors
from nova_holistic.engine.group_parser import GroupParser
from nova_holistic.engine import reasons
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.model.action import Action, ActionKind, ActionState
from nova_holistic.model.plan import Reason
from nova_holistic.reconcile.action_steps import ActionSteps
from nova_holistic.reconcile.checked_status import checked_status
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile import image_changes
from nova_holistic.reconcile.lost_places import lose_place
from nova_holistic.reconcile.server_actions import ServerActions
from nova_holistic.reconcile.server_positions import ServerPositions
from nova_holistic.reconcile.volume_positions import VolumePositions
from nova_holistic.repair.action_search import ActionCase
from nova_holistic.repair import required_actions
from nova_holistic.repair.required_actions import RequiredActions
from nova_holistic.repair.server_changes import ServerChange, ServerStatus
from nova_holistic.table.group_reasons import BesideMissing
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState

LOG = logging.getLogger(__name__)

APPLY = 'apply'
"""Parameter of a task: the actions are carried out and not only listed."""


class ActionRunner:
    """Lists and carries out the actions after an update.

    The actions are computed from the current state of the servers. Therefore,
    no action is carried out twice if an engine continues the task of another
    engine, or if a client repeats an update.

    No capacity is held for the destinations. Nova's scheduler checks the
    capacity and the hard policies when each action begins, in the same way as
    for any other server. The first failure ends the task; the remaining
    servers are not affected.
    """

    def __init__(self, components: ReconcileComponents,
                 actions: ServerActions):
        """:param actions: requests operations on servers"""
        self._conf = conf = components.conf
        self._inventory = inventory = components.inventory
        self._table = table = components.table
        self._holds = components.holds
        self._instances = instances = components.instances
        self._clock = clock = components.clock
        self._groups = GroupParser()
        self._positions = ServerPositions(inventory, table, instances, clock)
        self._volumes = VolumePositions(table, inventory)
        self._steps = ActionSteps(conf, instances, actions)
        self._snapshot_planner = SnapshotPlanner(
            conf, inventory, table, self._groups.policy_types, time.monotonic)

    def wait_with(self, sleep: Callable[[float], object]) -> None:
        """Replace the function that waits, for tests."""
        self._steps.sleep = sleep

    def run(self, record: GroupRecord,
            changes: Mapping[str, Any]) -> Mapping[str, Any]:
        """List the actions after an update, and carry them out if the client
        has requested this.

        :param record: the result of ``table.tasks.take``
        :param changes: changes with which the task would end
        :returns: changes with which the task ends: the status, and the reasons
            for actions that were not carried out
        :raises OwnershipLost: the group belongs to another engine; an
            operation that has begun in Nova continues
        """
        ownership = Ownership(self._table, record, self._clock)
        apply = bool((record.pending or {}).get(APPLY))
        try:
            failed = apply and self._finish_started(ownership)
            found = self._proposal(record.uuid)
            self._write(record, found)
            if not apply:
                why = found.reasons if found.is_empty else ()
                return _with_reasons(changes, why)
            why = [failed] if failed else self._carry_out(ownership, found)
        except ServiceFailed as error:
            why = reasons.of_errors(error)
        return _with_reasons({
            **self.check_status(record),
            'reasons': changes.get('reasons', BesideMissing())}, why)

    def check_status(self, record: GroupRecord) -> Mapping[str, Any]:
        """The changes of a group that its servers require: see
        ``checked_status``."""
        return checked_status(
            self._table, self._groups, self._inventory, record)

    def _carry_out(self, ownership: Ownership,
                   found: RequiredActions) -> Sequence[Reason]:
        """Carry out the actions in their order until one fails.

        :returns: the reasons for actions that were not carried out
        """
        record = ownership.record
        for row in self._table.members(record.uuid):
            if row.member.path in found.planned_again:
                # The reconciler plans the member again when the task has
                # ended.
                lose_place(self._table, self._holds, row, self._clock())
                crash_points.reached('action.place-given-up')
        last = {each.member: position
                for position, each in enumerate(found.actions)}
        for position, action in enumerate(found.actions):
            if action.state != ActionState.REQUIRED:
                break
            # After the last action, the row states the new requirements.
            failure = self._step(
                ownership, position, _with_target(action, found),
                found.changes[action.member]
                if position == last[action.member] else None)
            if failure is not None:
                self._note(record, position, ActionState.FAILED, [
                    *action.reasons, failure.to_row()])
                crash_points.reached('action.failure-noted')
                return [failure]
        return found.reasons

    def _step(self, ownership: Ownership, position: int,
              step: tuple[Action, str],
              change: ServerChange | None) -> Reason | None:
        """Carry out one action, and write its state and its result.

        :param position: position of the action in the list of actions
        :param step: the action, and its flavor or image
        :param change: the change that the action completes; None if the server
            requires another action
        :returns: the reason why the action has failed
        """
        record, (action, target) = ownership.record, step
        LOG.info('Group %s: %s of server %s, member %s, from %s to %s',
                 record.uuid, action.kind, action.instance_uuid,
                 action.member, action.from_host, action.to_host)
        why = self._steps.obstacle(action)
        if why is not None:
            return why
        # The scheduler reads the destination from the table.
        self._note(record, position, ActionState.STARTED)
        crash_points.reached('action.started')
        try:
            why = self._steps.carry_out(ownership, action, target)
        except ServiceFailed as error:
            why = self._steps.failed(action, str(error))
        if why is None:
            self._positions.refresh(record.uuid)
            crash_points.reached('action.position-written')
            if change is not None:
                self._write_row(change)
            crash_points.reached('action.row-written')
            self._note(record, position, ActionState.DONE)
            crash_points.reached('action.done')
        return why

    def _finish_started(self, ownership: Ownership) -> Reason | None:
        """Finish an action that was started before. It may remain from an
        engine that stopped, or from an operation that took too long.

        :returns: the reason why the action has not finished
        """
        self._positions.refresh(ownership.record.uuid)
        for action in self._table.actions.of_group(ownership.record.uuid):
            if action.state in (ActionState.STARTED, ActionState.FAILED):
                why = self._steps.finish(ownership, action)
                crash_points.reached('action.continued')
                self._positions.refresh(ownership.record.uuid)
                if why is not None:
                    return why
        return None

    def _proposal(self, group_uuid: str) -> RequiredActions:
        record, members = self._table.group_with_members(group_uuid)
        built = [row for row in members if row.state == MemberState.BUILT]
        views = self._instances.find(
            [row.instance_uuid or '' for row in built], record.project_id)
        servers = {
            row.member.path: ServerStatus(
                view.status, view.flavor, view.task is None, view.image)
            for row in built
            for view in [views.get(row.instance_uuid or '')]
            if view is not None}
        group = self._groups.sized(record, members)
        cloud = self._inventory.snapshot()
        found = required_actions.propose(
            self._conf, self._snapshot_planner, ActionCase(
                record, group, self._volumes.added_now(record, members, cloud),
                with_other_groups(self._table, group, record.uuid, cloud),
                servers,
                refused_hosts.read(self._conf, self._table, record.uuid,
                                   self._clock())))
        return image_changes.with_rebuilds(found, image_changes.images(
            self._inventory, record.project_id, group, image_changes.named(
                record, self._table.actions.of_group(record.uuid))), servers)

    def _write(self, record: GroupRecord, found: RequiredActions) -> None:
        """Write the actions, and the requirements of servers that rows do not
        state yet."""
        for change in found.changes.values():
            if change.is_unwritten and change.row.destination is None:
                self._write_row(change)
                crash_points.reached('action.row-corrected')
        done = {action.member: action for action
                in self._table.actions.of_group(record.uuid)
                if action.state == ActionState.DONE and record.attempts > 1}
        actions = [done.get(action.member, action)
                   if action.state == ActionState.DONE else action
                   for action in found.actions]
        _must(self._table.actions.replace(
            record.uuid, record.engine or '', actions))
        crash_points.reached('action.list-written')

    def _write_row(self, change: ServerChange) -> None:
        after: MemberRecord = change.after()
        self._table.change_state(
            after.id, [MemberState.BUILT], MemberState.BUILT, self._clock(),
            of_instance=after.instance_uuid,
            requirements=after.member.requirements, planned=after.planned)

    def _note(self, record: GroupRecord, position: int, state: ActionState,
              why: Sequence[Mapping[str, Any]] | None = None) -> None:
        _must(self._table.actions.change(
            record.uuid, record.engine or '', position, state, why))


def _with_target(action: Action, found: RequiredActions) -> tuple[Action, str]:
    """The action, and the new flavor or image of the server."""
    if action.kind == ActionKind.REBUILD:
        return action, found.images[action.member]
    flavor = found.changes[action.member].flavor
    return action, (flavor.id if flavor is not None
                    and action.kind == ActionKind.RESIZE else '')


def _with_reasons(changes: Mapping[str, Any],
                  why: Sequence[Reason]) -> Mapping[str, Any]:
    earlier: BesideMissing = changes.get('reasons', BesideMissing())
    return {**changes, 'reasons': earlier.with_more(
        [reason.to_row() for reason in why])}


def _must(done: bool) -> None:
    if not done:
        raise errors.OwnershipLost('another engine has the task of the group')
