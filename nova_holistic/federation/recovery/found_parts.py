# SPDX-License-Identifier: Apache-2.0
"""Reads the groups of a parent that one child has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from nova_holistic.documents.page_links import place_of_next_page
from nova_holistic.documents.validation import validator
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.child import ChildGroup, Document, Refusal
from nova_holistic.federation.errors import ChildFailed, InvalidAnswer
from nova_holistic.federation.http import answers, schemas
from nova_holistic.federation.http.child_request import ChildRequest
from nova_holistic.federation.http.exchange import Exchange
from nova_holistic.federation.http_child import CLOUDS, KEYS
from nova_holistic.federation.recovery.part_keys import parse_key, PartKey

_ID = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_check_owner = validator({
    'type': 'object', 'required': ['group'], 'properties': {'group': {
        'type': 'object',
        'required': ['project_id', 'user_id', 'objective', 'definition'],
        'properties': {'project_id': _ID, 'user_id': _ID, 'objective': _ID,
                       'definition': {'type': 'object'}}}}})


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A part of a group of the parent, as its child has it.

    :ivar key: the parts of the idempotency key
    :ivar text: the idempotency key
    :ivar name: name of the group in the child
    :ivar project_id: project of the group in the child
    :ivar user_id: user of the group in the child
    :ivar group: the group in the child, with its members
    """

    key: PartKey
    text: str
    name: str
    project_id: str
    user_id: str
    objective: str
    document: Document
    group: ChildGroup

    @property
    def lease_end(self) -> datetime | None:
        return self.group.lease_end


def found_parts(exchange: Exchange, parent: str,
                all_projects: bool) -> Iterator[FoundPart]:
    """The groups with a key of the parent, with their members.

    :param parent: identifier of the parent
    :param all_projects: whether the groups of all projects are read, and not
        only those of the credential's project
    :raises ChildFailed: the child does not answer, or refuses
    :raises InvalidAnswer: an answer is not the document of the API
    """
    for found in _listed(exchange, all_projects):
        key = parse_key(found.get('idempotency_key'))
        if key is not None and key.parent == parent and (
                key.child == exchange.child):
            part = _part(exchange, found['id'], key,
                         found['idempotency_key'])
            if part is not None:
                yield part


def _listed(exchange: Exchange,
            all_projects: bool) -> Iterator[Mapping[str, Any]]:
    query = {'all_projects': 'true'} if all_projects else {}
    seen: set[str] = set()
    while True:
        page = _read(exchange, '/v1/groups?' + urlencode(query),
                     schemas.groups)
        yield from page['groups']
        last = page['groups'] and page['groups'][-1]['id']
        if not page.get('groups_links') or last in seen:
            return
        seen.add(last)
        query |= {'marker': last,
                  **place_of_next_page(page['groups_links'])}


def _part(exchange: Exchange, group_uuid: str, key: PartKey,
          text: str) -> FoundPart | None:
    """A group with its members; None: it was deleted after it was listed."""
    path = '/v1/groups/' + quote(group_uuid, safe='')
    found = _read(exchange, path, schemas.group, missing=True)
    if found is None:
        return None
    _check(found, _check_owner, exchange.child)
    members = _read(exchange, f'{path}/placements', schemas.placements,
                    missing=True)
    if members is None:
        return None
    group = found['group']
    if group['id'] != group_uuid:
        raise InvalidAnswer(
            f'cloud {exchange.child}: the answer is about another group')
    return FoundPart(
        key, text, group['name'], group['project_id'],
        group['user_id'], group['objective'], group['definition'],
        answers.group(exchange.child, group, members['placements']))


def _read(exchange: Exchange, path: str, schema: validator,
          missing: bool = False) -> Any:
    """The document of an answer.

    :param missing: whether the result is None for a status of 404
    """
    answer = exchange.send(
        ChildRequest('GET', path, version=max(CLOUDS, KEYS)),
        expected=(200, 404) if missing else (200,))
    if isinstance(answer, Refusal):
        raise ChildFailed('; '.join(
            reason.message for reason in answer.reasons))
    if answer.status == 404:
        return None
    _check(answer.document, schema, exchange.child)
    return answer.document


def _check(document: Any, schema: validator, child: str) -> None:
    try:
        schema(document)
    except InvalidDocument as error:
        raise InvalidAnswer(f'cloud {child}: {error}') from error
