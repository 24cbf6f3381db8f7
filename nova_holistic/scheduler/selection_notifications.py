# SPDX-License-Identifier: Apache-2.0
"""Nova's notifications at the beginning and at the end of a looked-up answer.

Stock Nova describes the request twice, and waits twice until the message
broker has accepted the message. Here, a thread sends both messages, each dated
when it is sent, and the request is described again at its end only if it may
have changed.
"""

from collections.abc import Iterator, Mapping, Sequence
import contextlib
from dataclasses import dataclass
import functools
from typing import Any

import nova.conf
from nova.notifications.objects import request_spec as request_payload
from nova import objects
from nova.objects import fields
from nova import rpc

from nova_holistic.scheduler.notification_sender import NotificationSender

CONF = nova.conf.CONF
_ACTION = f'scheduler.{fields.NotificationAction.SELECT_DESTINATIONS}'
_START = fields.NotificationPhase.START
_END = fields.NotificationPhase.END


@dataclass(frozen=True, slots=True)
class _Description:
    """A request as notifications describe it.

    :ivar legacy: payload of the unversioned notification; None if none is sent
    :ivar versioned: the same for the versioned notification
    """

    legacy: Mapping[str, Any] | None
    versioned: Mapping[str, Any] | None


@contextlib.contextmanager
def sent(context, spec: 'objects.RequestSpec', uuids: Sequence[str],
         notifier, sender: NotificationSender) -> Iterator[None]:
    """Context manager for the search for the hosts of a request. As in stock
    Nova, a search that fails has no notification at its end.

    :param uuids: servers of the request
    :param notifier: sends Nova's unversioned notifications
    """
    formats = _formats()
    if not any(formats):
        yield
        return
    send = sender.send if sender.has_room() else _at_once
    described, before = _described(spec, *formats), _destination(spec)
    zone = spec.availability_zone
    _send_phase(context, described, notifier, _START, send)
    yield
    # The search removes a default zone. Stock Nova reports it.
    spec.availability_zone = zone
    # Nova's request filters may change the destination, and a request for
    # several servers changes the rest.
    if (len(uuids) > 1 or spec.instance_uuid != uuids[0]
            or before or _destination(spec)):
        described = _described(spec, *formats)
    _send_phase(context, described, notifier, _END, send)


def _destination(spec: 'objects.RequestSpec'):
    return 'requested_destination' in spec and spec.requested_destination


def _formats() -> tuple[bool, bool]:
    """Whether unversioned and whether versioned notifications are sent."""
    if not {*CONF.oslo_messaging_notifications.driver} - {'noop'}:
        return False, False
    wanted = CONF.notifications.notification_format
    return wanted != 'versioned', (
        wanted != 'unversioned' and rpc.NOTIFIER.is_enabled())


def _described(spec: 'objects.RequestSpec', legacy: bool,
               versioned: bool) -> _Description:
    return _Description(
        {'request_spec': spec.to_legacy_request_spec_dict()} if legacy
        else None, _versioned(spec) if versioned else None)


def _versioned(spec: 'objects.RequestSpec') -> Mapping[str, Any]:
    payload = request_payload.RequestSpecPayload(request_spec=spec)
    # NotificationBase.emit() would do this for each message.
    payload.obj_reset_changes(recursive=True)
    return payload.obj_to_primitive()


def _send_phase(context, described: _Description, notifier, phase: str, send
                ) -> None:
    event_type = f'{_ACTION}.{phase}'
    if described.legacy is not None:
        send(functools.partial(
            notifier.info, context, event_type, described.legacy))
    if described.versioned is not None:
        versioned = rpc.get_versioned_notifier(
            f'{fields.NotificationSource.SCHEDULER}:{CONF.host}')
        send(functools.partial(
            versioned.info, context, event_type=event_type,
            payload=described.versioned))


def _at_once(call) -> None:
    call()
