# SPDX-License-Identifier: Apache-2.0
"""Groups, over the API. A group is the API's document, as a dict."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
import uuid

from nova_holistic.client import errors, idempotency, waiting
from nova_holistic.client.member_paths import group_url, must_fit_in_url
from nova_holistic.client.microversions import (
    ACTIONS, ADOPTION, BINDINGS, CREATED_VOLUMES, OBJECTIVE_VALUES, SERVERS,
    with_volumes)
from nova_holistic.documents.groups.volumes import has_volumes
from nova_holistic.documents.page_links import place_of_next_page
from nova_holistic.documents.servers.positions import server_positions

Request = Callable[..., Any]
Document = Mapping[str, Any]

TIMEOUT = 300.0
"""Default time in seconds to wait for a group."""


class Groups:
    """Every method raises Refused if the API refuses the request."""

    def __init__(self, request: Request):
        self._request = request

    def create(self, document: Document, *, objective: str | None = None,
               lease: int | None = None, strict: bool = False,
               idempotency_key: str | None = None,
               **query: int) -> dict[str, Any]:
        """Create a group.

        :param document: a group document, with or without its outer key
        :param lease: seconds; 0 means no lease
        :param strict: refuse adopted servers that violate a hard policy
        :param idempotency_key: requests with the same key return one group
        :param query: ``wait``: seconds for which the API may wait for the plan
        """
        headers = idempotency.headers(idempotency_key)
        return self._request('POST', '/groups', headers=headers, body=_stated(
            group=document.get('group', document), objective=objective,
            lease=lease, strict=strict or None), query=query,
            **_since(document, strict))['group']

    def list(self, *, page: int | None = None,
             **query: Any) -> Iterator[dict[str, Any]]:
        """All groups, read page by page.

        :param page: maximum number of groups in one response
        :param query: ``name``, ``status``, ``project_id``, ``all_projects``,
            ``sort_key``, ``sort_dir``
        """
        parameters = _stated(limit=page, **query)
        while True:
            answer = self._request('GET', '/groups', query=parameters)
            yield from answer['groups']
            if not answer.get('groups_links'):
                return
            # If the last group is deleted now, the link still has its
            # position in the list.
            parameters = {**parameters, 'marker': answer['groups'][-1]['id'],
                          **place_of_next_page(answer['groups_links'])}

    def get(self, group_id: str) -> dict[str, Any]:
        """The group with its definition."""
        return self._request('GET', group_url(group_id))['group']

    def get_complete(self, group_id: str) -> dict[str, Any]:
        """The group with its definition, and with everything else that the
        API knows: earlier versions of the API know less."""
        for since in CREATED_VOLUMES, OBJECTIVE_VALUES, ACTIONS:
            try:
                return self._request(
                    'GET', group_url(group_id), since=since)['group']
            except errors.Refused as error:
                if error.status != 406:
                    raise
        return self.get(group_id)

    def find(self, name_or_id: str) -> dict[str, Any]:
        """The group with this id, or the only group with this name.

        :raises LookupError: no such group exists, or more than one
        """
        if _is_id(name_or_id):
            try:
                # The API writes IDs in lower case.
                return self.get(name_or_id.lower())
            except errors.Refused as error:
                if error.status != 404:
                    raise
        # Compare names as the database does.
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
               objective: str | None = None,
               strict: bool = False) -> dict[str, Any]:
        """Replace the definition of the group by this document. Members with
        servers cannot be changed: see ``change``.

        :param revision: the revision on which the change is based; the API
            refuses the change if the group has another revision
        :param strict: refuse adopted servers that violate a hard policy
        """
        return self._request(
            'PUT', group_url(group_id), headers={'If-Match': f'"{revision}"'},
            body=_stated(group=document.get('group', document),
                         objective=objective, strict=strict or None),
            **_since(document, strict))['group']

    def change(self, group_id: str, document: Document, revision: int, *,
               objective: str | None = None,
               apply: bool = False) -> dict[str, Any]:
        """Replace the definition of the group, also of members with servers.
        Afterwards, ``actions`` returns what these servers require.

        :param apply: let an engine carry out these actions
        """
        return self._request(
            'PUT', group_url(group_id), headers={'If-Match': f'"{revision}"'},
            body=_stated(group=document.get('group', document),
                         objective=objective, apply=apply or None),
            since=ACTIONS)['group']

    def actions(self, group_id: str) -> Sequence[dict[str, Any]]:
        """The actions that servers of a group require since its latest update,
        in their order; none if the API does not know actions."""
        return self.get_complete(group_id).get('actions', ())

    def adopt(self, group_id: str, servers: Mapping[str, str], *,
              strict: bool = False) -> dict[str, Any]:
        """Let existing servers become members of a group.

        :param servers: UUIDs of the servers by the paths of the members
        :param strict: refuse servers that violate a hard policy
        """
        body = _stated(adopt=dict(servers), strict=strict or None)
        return self._request('POST', group_url(group_id, 'adopt'), body=body,
                             since=ADOPTION)['group']

    def detach(self, group_id: str, path: str) -> dict[str, Any]:
        """Take a server out of a group; the server is not affected."""
        return self._request('POST', group_url(group_id, 'detach'), body={
            'detach': {'member': path}}, since=ADOPTION)['group']

    def delete(self, group_id: str) -> None:
        """Delete a group; its servers are not affected."""
        self._request('DELETE', group_url(group_id))

    def release(self, group_id: str,
                members: Sequence[str] | None = None) -> dict[str, Any]:
        """Free planned capacity: ``{'released': [...], 'kept': [...]}``."""
        return self._request('POST', group_url(group_id, 'release'), body={
            'release': _stated(members=members and list(members))})

    def extend(self, group_id: str, seconds: int) -> dict[str, Any]:
        """Extend the lease: it expires after the given number of seconds."""
        return self._request('POST', group_url(group_id, 'extend'), body={
            'extend': {'seconds': seconds}})['group']

    def replan(self, group_id: str) -> dict[str, Any]:
        """Plan lost members again, on new hosts."""
        return self._request('POST', group_url(group_id, 'replan'), body={
            'replan': {}})['group']

    def repair(self, group_id: str) -> dict[str, Any]:
        """Live migrations that restore the hard policies of a group:
        ``{'moves': [...], 'planned_again': [...], 'reasons': [...]}``."""
        return self._request('POST', group_url(group_id, 'repair'), body={
            'repair': {'apply': False}})['repair']

    def apply_repair(self, group_id: str) -> dict[str, Any]:
        """Request these live migrations; the response is the group."""
        return self._request('POST', group_url(group_id, 'repair'), body={
            'repair': {'apply': True}})['group']

    def add_members(self, group_id: str,
                    members: Sequence[Document]) -> dict[str, Any]:
        """
        :param members: member descriptions; ``group`` in one is the path of
            the nested group that it goes to
        """
        return self._request('POST', group_url(group_id, 'members'), body={
            'members': [dict(member) for member in members]},
            **_since({'members': members}))['group']

    def remove_member(self, group_id: str, path: str) -> dict[str, Any]:
        """Take a member out of the group's definition."""
        must_fit_in_url(path)
        url = group_url(group_id, 'members', *path.split('/'))
        return self._request('DELETE', url)['group']

    def placements(self, group_id: str) -> Sequence[dict[str, Any]]:
        """Each member with its state and server, and for admins its host."""
        return self._request(
            'GET', group_url(group_id, 'placements'))['placements']

    def bindings(self, group_id: str) -> Sequence[dict[str, Any]]:
        """The server groups and Heat stacks that are bound to members."""
        return self._request('GET', group_url(group_id, 'bindings'),
                             since=BINDINGS)['bindings']

    def bind(self, group_id: str, server_group: str,
             path: str = '') -> dict[str, Any]:
        """Treat creates in a server group as creates of a member.

        :param server_group: UUID
        :param path: of a member or of a nested group with one member; empty
            is the whole group
        """
        return self._request(
            'PUT', group_url(group_id, 'bindings', server_group),
            body={'binding': _stated(path=path or None)},
            since=BINDINGS)['binding']

    def bind_stack(self, group_id: str, stack: str,
                   rules: Sequence[Mapping[str, str]],
                   path: str = '') -> dict[str, Any]:
        """Treat creates of the servers of a Heat stack as creates of members.

        :param stack: name or id
        :param rules: a ``resource`` and a ``member`` each
        :param path: below which the members of the rules are
        """
        return self._request(
            'PUT', group_url(group_id, 'bindings', stack),
            body={'binding': _stated(kind='heat-stack', path=path or None,
                                     rules=list(rules))},
            since=BINDINGS)['binding']

    def unbind(self, group_id: str, target: str) -> None:
        """End the binding of a server group or of a Heat stack."""
        self._request('DELETE', group_url(group_id, 'bindings', target),
                      since=BINDINGS)

    def events(self, group_id: str, *, page: int | None = None,
               **query: Any) -> Iterator[dict[str, Any]]:
        """The events of the group and its members, read page by page.

        :param page: maximum number of events in one response
        :param query: ``member``, ``kind``, ``since``, ``marker``,
            ``sort_dir``
        """
        parameters = _stated(limit=page, **query)
        while True:
            answer = self._request(
                'GET', group_url(group_id, 'events'), query=parameters)
            yield from answer['events']
            if not answer.get('events_links'):
                return
            parameters = {**parameters, 'marker': answer['events'][-1]['id']}

    def wait(self, group_id: str, timeout: float = TIMEOUT,
             report: Callable[[Any], None] | None = None) -> dict[str, Any]:
        """Wait until no engine works on the group, and return it.

        :raises TimedOut: the group is still being planned at the time limit
        """
        return waiting.poll_until(lambda: self.get(group_id),
                                  lambda group: group['task'] is None,
                                  timeout, report)


def _since(document: Document, strict: bool = False) -> dict[str, str]:
    """The microversion that a request needs, if it is not the first."""
    document = document.get('group', document)
    if has_volumes(document):
        return {'since': with_volumes(document)}
    if any(server_positions(document)):
        return {'since': SERVERS}
    adopts = strict or 'adopt' in document
    return {'since': ADOPTION} if adopts else {}


def _is_id(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _stated(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items()
            if value is not None}
