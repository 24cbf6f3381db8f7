# SPDX-License-Identifier: Apache-2.0
"""One action on a server: the request to Nova, the wait, the confirmation and
the check of the result."""

from collections.abc import Callable
import time

from nova_holistic import crash_points
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.model.action import Action, ActionKind
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.plan import Reason
from nova_holistic.reconcile.image_changes import REBUILDABLE
from nova_holistic.reconcile.instances import Instances, InstanceView
from nova_holistic.reconcile.server_actions import ServerActions
from nova_holistic.repair.server_changes import MOVABLE, RESIZABLE

POLL = 1.0
"""Interval in seconds between two reads of a server during an action."""

TO_CONFIRM = 'VERIFY_RESIZE'
"""Status of a server whose resize or cold migration must be confirmed."""

OFF = 'SHUTOFF'

STATUSES = {ActionKind.RESIZE: RESIZABLE, ActionKind.MIGRATE: MOVABLE,
            ActionKind.REBUILD: REBUILDABLE}
"""The statuses of a server in which each action can begin."""


class ActionSteps:
    """Carries out actions on servers in Nova.

    :ivar sleep: waits for a number of seconds
    """

    def __init__(self, conf, instances: Instances, actions: ServerActions,
                 timer: Callable[[], float] = time.monotonic):
        """:param timer: returns seconds, to measure durations"""
        self._conf = conf
        self._instances = instances
        self._actions = actions
        self._timer = timer
        self.sleep: Callable[[float], object] = time.sleep

    def obstacle(self, action: Action) -> Reason | None:
        """The reason why the action cannot begin: the server has changed since
        the plan."""
        view = self._instances.get(action.instance_uuid)
        allowed = STATUSES[action.kind]
        if (view is None or view.host != action.from_host
                or view.task is not None or view.status not in allowed):
            return Reason.of(action.member, MarkedText(
                'its server has changed since the actions were planned: '
                'repeat the update'))
        return None

    def carry_out(self, ownership: Ownership, action: Action,
                  wanted: str) -> Reason | None:
        """Carry out one action and wait for its end.

        :param wanted: ID of the flavor to which the server is resized, or UUID
            of the image with which it is rebuilt; empty for a migration
        :returns: the reason why the action has failed
        :raises ServiceFailed: Nova refuses, or does not respond
        """
        server, host = action.instance_uuid, action.to_host or ''
        if action.kind == ActionKind.RESIZE:
            self._actions.resize(server, wanted)
        elif action.kind == ActionKind.REBUILD:
            self._actions.rebuild(server, wanted)
        elif self._is_off(server):
            self._actions.migrate(server, host)
        else:
            self._actions.live_migrate(server, host)
        crash_points.reached('action.asked')
        why = self.finish(ownership, action)
        if why is not None:
            return why
        view = self._instances.get(server)
        if view is None:
            return self.failed(action, 'the server no longer exists')
        if view.host != host or not _has(view, action.kind, wanted):
            return self.failed(
                action, 'Nova did not change the server; its migrations and '
                        'actions state why')
        return None

    def finish(self, ownership: Ownership, action: Action) -> Reason | None:
        """Wait until Nova has finished an action that was requested before,
        and confirm it.

        :returns: the reason why the action has not finished
        :raises ServiceFailed: Nova refuses, or does not respond
        """
        view = self._settled(ownership, action)
        if (view is not None and view.status == TO_CONFIRM
                and view.task is None):
            if view.host != action.to_host:
                return self.failed(
                    action, 'the server is on another host, and its resize is '
                            'not confirmed')
            self._actions.confirm(action.instance_uuid)
            crash_points.reached('action.confirmed')
            view = self._settled(ownership, action, (TO_CONFIRM,))
        if view is not None and (view.task is not None or view.is_moving):
            return self.failed(action, 'it exceeded migration_timeout')
        return None

    def failed(self, action: Action, why: str) -> Reason:
        """The reason for a failed action.

        :param why: cause, which only administrators read
        """
        return Reason(
            action.member,
            f'the action {action.kind} '
            f'{"on" if action.kind == ActionKind.REBUILD else "to"} host '
            f'{action.to_host} failed: '
            f'{why}', public=str(format_message(
                'the action {} of the server failed', str(action.kind))))

    def _settled(self, ownership: Ownership, action: Action,
                 more: tuple[str, ...] = ()) -> InstanceView | None:
        """The server when Nova has no task for it, or when the timeout has
        passed; None if the server does not exist.

        :param more: additional statuses in which the action has not ended
        """
        deadline = self._timer() + self._conf.reconciler.migration_timeout
        while True:
            view = self._instances.get(action.instance_uuid)
            if (view is None or view.task is None
                    and (view.status == TO_CONFIRM or not view.is_moving)
                    and view.status not in more):
                return view
            if self._timer() > deadline:
                return view
            ownership.change()
            crash_points.reached('action.waiting')
            self.sleep(POLL)

    def _is_off(self, server: str) -> bool:
        view = self._instances.get(server)
        return view is not None and view.status == OFF


def _has(view: InstanceView, kind: ActionKind, wanted: str) -> bool:
    """Whether the server already has the result of an action."""
    if kind == ActionKind.RESIZE:
        return view.flavor == wanted
    if kind == ActionKind.REBUILD:
        return view.image == wanted and view.status != 'ERROR'
    return True
