# SPDX-License-Identifier: Apache-2.0
"""The history of a group."""

from datetime import datetime, UTC
from urllib import parse

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api import errors
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.views import common, events as views
from nova_holistic.documents.validation import brief
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.table.history.events import Event
from nova_holistic.table.history.pages import Page


def list_events(call: Call) -> webob.Response:
    """List the events of a group, page by page."""
    record, query = call.group(), call.query
    longest = call.service.conf.holistic_api.max_limit
    limit = min(query.get('limit', longest), longest)
    since = query.get('since')
    records = call.service.table.history.read(Page(
        record.uuid, limit + 1, marker=query.get('marker'),
        since=None if since is None else _time('since', since),
        member=query.get('member'), kind=query.get('kind'),
        descending=query.get('sort_dir') == 'desc')) if limit else ()
    hosts = call.service.policy_enforcer.may_with(
        call.context, rules.SHOW_HOSTS, record)
    body = {'events': [views.event(event, hosts) for event in records[:limit]]}
    if len(records) > limit > 0:
        body['events_links'] = [_next(call, record.uuid, records[limit - 1])]
    return answer(200, body)


def _time(place: str, text: str) -> datetime:
    """:raises ApiError: 400, the text is not a valid time"""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise errors.invalid_query(InvalidDocument(
            place, f'must be a time in ISO 8601, such as '
            f'2030-01-31T12:00:00Z, not {brief(text)}')) from None
    return time


def _next(call: Call, group_uuid: str, last: Event) -> dict[str, str]:
    """The URL of the page after that event."""
    pairs = [(name, value) for name, value in call.request.GET.items()
             if name != 'marker']
    query = parse.urlencode([*pairs, ('marker', last.id)])
    url = call.url(f'/v1/groups/{group_uuid}/events')
    return common.link('next', f'{url}?{query}')
