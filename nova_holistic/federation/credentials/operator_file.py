# SPDX-License-Identifier: Apache-2.0
"""A file with credentials of the operator in children, which serve only to
read.

They are never used for a request of a user.
"""

from collections.abc import Collection, Mapping
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import loading
from keystoneauth1.plugin import BaseAuthPlugin

from nova_holistic.documents.schemas import common
from nova_holistic.documents.validation import join, listed, validator
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.topology.option_file import in_file, read_document

_check_shape = validator({
    'type': 'object', 'additionalProperties': False,
    'required': ['credentials'], 'properties': {'credentials': {
        'type': 'object', 'propertyNames': common.TEXT,
        'additionalProperties': {
            'type': 'object', 'additionalProperties': False,
            'required': ['auth_type', 'auth'], 'properties': {
                'auth_type': common.TEXT,
                'auth': {'type': 'object', 'additionalProperties': {
                    'type': ['string', 'boolean', 'number']}}}}}}})


def read(path: str, option: str,
         children: Collection[str]) -> Mapping[str, BaseAuthPlugin]:
    """The authentication for each child in the file.

    :param option: option with the path of the file, for messages
    :param children: names of all children
    :raises UnreadableFile: the file cannot be read
    :raises InvalidFile: the file is not valid; with all mistakes and their
        positions
    """
    document = read_document(path, option)
    try:
        return parse(document, children)
    except InvalidDocument as error:
        raise in_file(path, error) from error


def parse(document: Any, children: Collection[str]
          ) -> Mapping[str, BaseAuthPlugin]:
    """The authentication for each child in a parsed file.

    :raises InvalidDocument: the file is not valid; with all mistakes and their
        positions
    """
    _check_shape(document)
    mistakes, found = Mistakes(), {}
    for name, entry in document['credentials'].items():
        place = join('credentials', name)
        if name not in children:
            mistakes.add(InvalidDocument(
                place, f'there is no child {name}; known are '
                f'{listed(children)}'))
            continue
        try:
            found[name] = loading.get_plugin_loader(
                entry['auth_type']).load_from_options(**entry['auth'])
        except ks_exceptions.NoMatchingPlugin:
            mistakes.add(InvalidDocument(
                join(place, 'auth_type'),
                f'there is no type {entry["auth_type"]} of authentication'))
        # TypeError: options that the type does not have, or that exclude each
        # other.
        except (ks_exceptions.ClientException, TypeError) as error:
            mistakes.add(InvalidDocument(join(place, 'auth'), str(error)))
    mistakes.must_be_none()
    return found
