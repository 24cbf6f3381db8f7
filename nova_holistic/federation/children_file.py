# SPDX-License-Identifier: Apache-2.0
"""The file that lists the children of a parent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.schemas import common
from nova_holistic.documents.validation import join, validator
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.option_file import in_file, read_document

OPTION = '[federation] children'
MAX_CHILDREN = 1000

_URL = {
    'type': 'string', 'maxLength': 2000,
    'description': 'an http or https URL without a query',
    'pattern': r'^https?://[^\s?#]+\Z'}
_TEXTS = {**common.TEXTS, 'description': 'a list of texts without duplicates'}
_FACTS = {
    'type': 'object', 'additionalProperties': False, 'properties': {
        'zones': _TEXTS, 'traits': common.TRAITS, 'aggregates': _TEXTS,
        'largest': common.RESOURCES,
        'flavors': {'type': 'object', 'propertyNames': common.TEXT,
                    'additionalProperties': common.RESOURCES},
        'share_in_use': {'type': 'number', 'minimum': 0, 'maximum': 1}}}
_CHILD = {
    'type': 'object', 'additionalProperties': False,
    'required': ['name'],
    'anyOf': [{'required': ['endpoint']}, {'required': ['region']},
              {'required': ['keystone']}],
    'description': 'a mapping with a name and at least one of endpoint, '
                   'region and keystone',
    'properties': {
        'name': {
            'type': 'string',
            'description': '1 to 64 letters, digits, dots, hyphens and '
                           'underscores',
            'pattern': r'^[A-Za-z0-9_.-]{1,64}\Z'},
        'endpoint': _URL, 'region': common.TEXT, 'keystone': _URL,
        'ca_file': common.TEXT,
        'cost': {'type': 'number', 'minimum': 0, 'maximum': 1e9,
                 'description': 'a number from 0 to 1000000000'},
        'facts': _FACTS}}
_check_shape = validator({
    'type': 'object', 'additionalProperties': False,
    'required': ['children'], 'properties': {'children': {
        'type': 'array', 'minItems': 1, 'maxItems': MAX_CHILDREN,
        'description': f'a list of 1 to {MAX_CHILDREN} children',
        'items': _CHILD}}})


@dataclass(frozen=True, slots=True)
class ChildEntry:
    """One child, as the file describes it.

    :ivar endpoint: URL of the API of nova_holistic; None: the URL in the
        catalog
    :ivar region: region of the API in the catalog; None: any region
    :ivar keystone: URL of the child's own identity API; users register
        application credentials for it. None: the child accepts the tokens of
        the parent's keystone
    :ivar ca_file: certificates of the authorities that sign the child's
        certificate; None: those of the system
    :ivar cost: cost of one server, in a unit that the operator selects
    :ivar facts: facts about the child in the file; None: no facts
    """

    name: str
    endpoint: str | None = None
    region: str | None = None
    keystone: str | None = None
    ca_file: str | None = None
    cost: float = 0.0
    facts: Facts | None = None


def read(path: str) -> tuple[ChildEntry, ...]:
    """The children, in the order of the file.

    :raises UnreadableFile: the file cannot be read
    :raises InvalidFile: the file is not valid; with all mistakes and their
        positions
    """
    document = read_document(path, OPTION)
    try:
        return parse(document)
    except InvalidDocument as error:
        raise in_file(path, error) from error


def parse(document: Any) -> tuple[ChildEntry, ...]:
    """The children of a parsed file.

    :raises InvalidDocument: the file is not valid; with all mistakes and their
        positions
    """
    _check_shape(document)
    mistakes = Mistakes()
    known: dict[str, int] = {}
    for number, child in enumerate(document['children']):
        first = known.setdefault(child['name'], number)
        if first != number:
            mistakes.add(InvalidDocument(
                join('children', number, 'name'),
                f'{child["name"]} is also the name of children[{first}]'))
    mistakes.must_be_none()
    return tuple(map(_entry, document['children']))


def check_order(order: Sequence[str],
                children: Sequence[ChildEntry]) -> None:
    """Check the option ``[federation] order``.

    :raises InvalidDocument: the option names a child that the file does not
        contain
    """
    known = {child.name for child in children}
    for name in order:
        if name not in known:
            raise InvalidDocument(
                '[federation] order', f'there is no child {name}')


def _entry(child: Mapping[str, Any]) -> ChildEntry:
    others = {name: value for name, value in child.items()
              if name != 'facts'}
    facts = child.get('facts')
    return ChildEntry(
        **others, facts=None if facts is None else _facts(facts))


def _facts(facts: Mapping[str, Any]) -> Facts:
    sets = {name: frozenset(facts[name])
            for name in ('zones', 'traits', 'aggregates') if name in facts}
    return Facts(
        **sets,
        largest=(FrozenMapping(facts['largest']) if 'largest' in facts
                 else None),
        flavors=FrozenMapping(facts.get('flavors', {})),
        share_in_use=facts.get('share_in_use'))
