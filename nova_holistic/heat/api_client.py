# SPDX-License-Identifier: Apache-2.0
"""The API of groups, with the user of a stack."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from heat.common import context
from heat.common import exception
from heat.common.i18n import _
from oslo_config import cfg
from oslo_log import log

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused

LOG = log.getLogger(__name__)


class GroupFailed(exception.HeatException):
    """An engine found no plan, or the group does not work.

    Heat does not repeat an operation that fails with this error.
    """

    msg_fmt = _('the group is %(status)s: %(reasons)s')


class GroupUnchanged(exception.HeatException):
    """An engine found no plan for a change of the group."""

    msg_fmt = _('the group remains unchanged: %(reasons)s')


class GroupMissing(exception.HeatException):
    """The group was deleted, and not by Heat."""

    msg_fmt = _('group %(group)s no longer exists, and Heat has not deleted '
                'it. Heat does not create another group, because that would '
                'replace all servers that point at this one. If the servers '
                'may be replaced, give the resource another name in the '
                'template')


def client(user: context.RequestContext) -> Client:
    """A client in the region of the stack."""
    return Client(
        user.keystone_session,
        interface=cfg.CONF.clients.endpoint_type.removesuffix('URL'),
        region_name=user.region_name or cfg.CONF.region_name_for_services)


def polled(request: Callable[[], Mapping[str, Any]]
           ) -> Mapping[str, Any] | None:
    """The group; None if the API is unavailable. Heat then sends the request
    again until the timeout of the stack, as it does for servers of Nova.

    :param request: reads the group
    """
    try:
        return request()
    except Refused as error:
        if not error.is_repeatable:
            raise
        LOG.warning('The API of groups does not answer; the request is '
                    'repeated: %s', error)
        return None


def reasons(group: Mapping[str, Any]) -> str:
    """The reasons of a group, in one line.

    :param group: the group as the API shows it
    """
    return _line(group['reasons'])


def failure(group: Mapping[str, Any]) -> GroupFailed:
    """The error for a group that does not work. If it is degraded, the error
    names the violated policies.

    :param group: the group as the API shows it
    """
    return GroupFailed(status=group['status'], reasons=_line(
        group.get('violations') or group['reasons']))


def _line(found: Iterable[Mapping[str, Any]]) -> str:
    return '; '.join(
        ': '.join(filter(None, (reason['at'], reason['message'])))
        for reason in found) or _('no reason is known')
