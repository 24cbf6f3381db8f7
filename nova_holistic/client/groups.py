# SPDX-License-Identifier: Apache-2.0
"""Groups, over the API. A group is the API's own document, a dict."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib import parse
import uuid

from nova_holistic.client import errors, waiting

Request = Callable[..., Any]
Document = Mapping[str, Any]

TIMEOUT = 300.0
"""Seconds that a group is waited for unless told otherwise."""


class Groups:
    """Every method raises Refused where the API does."""

    def __init__(self, request: Request):
        self._request = request

    def create(self, document: Document, *, objective: str | None = None,
               lease: int | None = None,
               idempotency_key: str | None = None) -> dict[str, Any]:
        """Ask for a group; it is planned when ``wait`` says so.

        :param document: a group document, with or without its outer key
        :param lease: seconds; 0 is none
        :param idempotency_key: asked again with the same, the API gives the
            same group
        """
        headers = {'Idempotency-Key': idempotency_key} if (
            idempotency_key) else {}
        return self._request('POST', '/groups', headers=headers, body=_given(
            group=document.get('group', document), objective=objective,
            lease=lease))['group']

    def list(self, *, page: int | None = None,
             **query: Any) -> Iterator[dict[str, Any]]:
        """Groups, page after page.

        :param page: groups in one request at most
        :param query: ``name``, ``status``, ``project_id``, ``all_projects``,
            ``sort_key``, ``sort_dir``
        """
        asked = _given(limit=page, **query)
        while True:
            answer = self._request('GET', '/groups', query=asked)
            yield from answer['groups']
            if not answer.get('groups_links'):
                return
            asked = {**asked, 'marker': answer['groups'][-1]['id']}

    def get(self, group_id: str) -> dict[str, Any]:
        """The group with its definition."""
        return self._request('GET', _path(group_id))['group']

    def find(self, name_or_id: str) -> dict[str, Any]:
        """The group of that id, or else the only one of that name.

        :raises LookupError: there is none, or more than one
        """
        if _is_id(name_or_id):
            try:
                return self.get(name_or_id)
            except errors.Refused as error:
                if error.status != 404:
                    raise
        # Whatever the database takes for the same.
        by_name = [group for group in self.list(name=name_or_id)
                   if group['name'] == name_or_id]
        if not by_name:
            raise LookupError(f'there is no group {name_or_id}')
        if len(by_name) > 1:
            raise LookupError(
                f'more than one group is named {name_or_id!r}: use an id of '
                + ', '.join(group['id'] for group in by_name))
        return self.get(by_name[0]['id'])

    def update(self, group_id: str, document: Document, revision: int, *,
               objective: str | None = None) -> dict[str, Any]:
        """Ask for the group to become what the document says.

        :param revision: that the change is made from; the API refuses it
            where the group has been changed meanwhile
        """
        return self._request(
            'PUT', _path(group_id), headers={'If-Match': f'"{revision}"'},
            body=_given(group=document.get('group', document),
                        objective=objective))['group']

    def delete(self, group_id: str) -> None:
        """Forget a group; its servers live on."""
        self._request('DELETE', _path(group_id))

    def release(self, group_id: str,
                members: Sequence[str] | None = None) -> dict[str, Any]:
        """Free planned places: ``{'released': [...], 'kept': [...]}``."""
        return self._request('POST', _path(group_id, 'release'), body={
            'release': _given(members=members and list(members))})

    def extend(self, group_id: str, seconds: int) -> dict[str, Any]:
        """Let the lease end after a number of seconds."""
        return self._request('POST', _path(group_id, 'extend'), body={
            'extend': {'seconds': seconds}})['group']

    def replan(self, group_id: str) -> dict[str, Any]:
        """Ask for new places for members that lost theirs."""
        return self._request('POST', _path(group_id, 'replan'), body={
            'replan': {}})['group']

    def repair(self, group_id: str) -> dict[str, Any]:
        """Live migrations that restore the hard policies of a group:
        ``{'moves': [...], 'planned_again': [...], 'reasons': [...]}``."""
        return self._request('POST', _path(group_id, 'repair'), body={
            'repair': {'apply': False}})['repair']

    def apply_repair(self, group_id: str) -> dict[str, Any]:
        """Ask for these live migrations; the answer is the group."""
        return self._request('POST', _path(group_id, 'repair'), body={
            'repair': {'apply': True}})['group']

    def add_members(self, group_id: str,
                    members: Sequence[Document]) -> dict[str, Any]:
        """
        :param members: member descriptions; ``group`` in one is the path of
            the nested group that it goes to
        """
        return self._request('POST', _path(group_id, 'members'), body={
            'members': [dict(member) for member in members]})['group']

    def remove_member(self, group_id: str, path: str) -> dict[str, Any]:
        """Take a member out of the group's definition."""
        if not path or {'', '.', '..'}.intersection(path.split('/')):
            # On its way such a path would become that of something else.
            raise errors.Refused(404, '', f'there is no member {path}')
        return self._request(
            'DELETE', _path(group_id, 'members', path))['group']

    def placements(self, group_id: str) -> Sequence[dict[str, Any]]:
        """Each member with its state and server, and for admins its host."""
        return self._request(
            'GET', _path(group_id, 'placements'))['placements']

    def events(self, group_id: str, *, page: int | None = None,
               **query: Any) -> Iterator[dict[str, Any]]:
        """What happened to the group and its members, page after page.

        :param page: events in one request at most
        :param query: ``member``, ``kind``, ``since``, ``marker``,
            ``sort_dir``
        """
        asked = _given(limit=page, **query)
        while True:
            answer = self._request(
                'GET', _path(group_id, 'events'), query=asked)
            yield from answer['events']
            if not answer.get('events_links'):
                return
            asked = {**asked, 'marker': answer['events'][-1]['id']}

    def wait(self, group_id: str, timeout: float = TIMEOUT,
             told: Callable[[Any], None] | None = None) -> dict[str, Any]:
        """The group once no engine works on it any more.

        :raises TimedOut: the group is still being planned at the time limit
        """
        return waiting.until(lambda: self.get(group_id),
                             lambda group: group['task'] is None,
                             timeout, told)


def _path(*parts: str) -> str:
    # A member's path has slashes of its own, and an id has none.
    first, *rest = parts
    return '/'.join(('/groups', parse.quote(first, safe=''),
                     *map(parse.quote, rest)))


def _is_id(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items()
            if value is not None}
