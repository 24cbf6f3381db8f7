# SPDX-License-Identifier: Apache-2.0
"""Distinguishes a group that is gone from a group that a child hides.

The API answers 404 for a group of another project, as if it did not exist. The
project of the credentials may have changed since the group was created: the
user has registered another application credential, or another user sends the
request.
"""

from urllib.parse import urlencode

from nova_holistic.federation.child import KnownGroup, Refusal, RefusalKind
from nova_holistic.federation.http import answers
from nova_holistic.federation.http.child_request import ChildRequest
from nova_holistic.federation.http.exchange import Exchange, has_error

_VERSION = '1.0'


def refusal(exchange: Exchange, known: KnownGroup) -> Refusal | None:
    """The refusal if a child that answered 404 may still have the group; None
    if the group is gone, or if nothing is known about its project.

    :raises InvalidAnswer: see ``Exchange.send``
    """
    own = known.project_id and exchange.project_id()
    if isinstance(own, Refusal):
        return own
    if not own or own == known.project_id or (
            _is_gone(exchange, known.uuid)):
        return None
    return Refusal(exchange.child, RefusalKind.FORBIDDEN, (answers.reason(
        exchange.child, '', f'group {known.uuid} belongs to project '
        f'{known.project_id} of this cloud, and the credentials of the '
        f'request to project {own}, which cannot see the group'),))


def _is_gone(exchange: Exchange, group_uuid: str) -> bool:
    """Whether an administrator of the child does not find the group in the
    list of all projects, which the child refuses to other users."""
    found = exchange.send(ChildRequest('GET', '/v1/groups?' + urlencode({
        'all_projects': 'true', 'limit': 1, 'marker': group_uuid}),
        _VERSION), expected=(200, 400))
    return not isinstance(found, Refusal) and found.status == 400 and (
        has_error(found.document, 'holistic.unknown_marker'))
