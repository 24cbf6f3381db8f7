# SPDX-License-Identifier: Apache-2.0
"""Formats of values in a create request of Nova, as Nova checks them."""

import base64
import binascii
import unicodedata
import uuid

import jsonschema

from nova_holistic.documents.schemas.common import MAX_AMOUNT

FORMATS = jsonschema.FormatChecker(('ipv4', 'ipv6'))
"""For the schema of servers."""

_LAST = '\ufffe'
"""The last character that Nova accepts in names."""


def is_printable(char: str) -> bool:
    """Whether Nova accepts the character in a name."""
    category = unicodedata.category(char)
    return (char <= _LAST and not category.startswith('C')
            and (category == 'Zs' or not category.startswith('Z')))


def printable_name(text: str) -> str:
    """A text that Nova accepts as a name, if it is not too long; other
    characters become ``-``."""
    name = ''.join(char if is_printable(char) else '-' for char in text)
    return name.strip() or '-'


@FORMATS.checks('server-name')
def _is_name(value) -> bool:
    return not isinstance(value, str) or (
        all(map(is_printable, value)) and not (
            value and 'Zs' in map(unicodedata.category,
                                  (value[0], value[-1]))))


@FORMATS.checks('printable')
def _is_printable(value) -> bool:
    return not isinstance(value, str) or all(map(is_printable, value))


@FORMATS.checks('server-uuid')
def _is_uuid(value) -> bool:
    if not isinstance(value, str):
        return True
    digits = value.replace('urn:', '').replace('uuid:', '').strip(
        '{}').replace('-', '').lower()
    try:
        return uuid.UUID(value).hex == digits
    except ValueError:
        return False


@FORMATS.checks('base64')
def _is_base64(value) -> bool:
    if not isinstance(value, str):
        return True
    try:
        base64.b64decode(value.encode('ascii'))
    except (binascii.Error, UnicodeError):
        return False
    return True


@FORMATS.checks('volume-size')
def _is_volume_size(value) -> bool:
    return not isinstance(value, str) or (
        value.isascii() and value.isdecimal() and len(value) < 100
        and 1 <= int(value) <= MAX_AMOUNT)
