# SPDX-License-Identifier: Apache-2.0
"""Conversion of errors to plain data for messages, and back.

The messaging library would create an exception from the arguments of its
constructor, which the exception does not keep. It would also add the traceback
of another machine to the text that a user reads.
"""

from collections.abc import Mapping
from typing import Any

from nova_holistic import exceptions
from nova_holistic.holds import errors as hold_errors
from nova_holistic.inventory import errors as inventory_errors
from nova_holistic.messaging import errors
from nova_holistic.table import database
from nova_holistic.table import errors as table_errors
from nova_holistic.topology import errors as topology_errors

_MODULES = (exceptions, errors, hold_errors, inventory_errors,
            table_errors, database, topology_errors)

_NAMES_IN_MESSAGES = {hold_errors.NoResponse: 'Unanswered',
                      hold_errors.CapacityUnavailable: 'CapacityGone',
                      hold_errors.HoldMissing: 'HoldGone'}
"""Names of renamed classes in messages. Processes of an earlier version do not
know the other names."""


def _name(kind: type) -> str:
    name = _NAMES_IN_MESSAGES.get(kind, kind.__qualname__)
    return f'{kind.__module__}.{name}'


def _error_classes() -> dict[str, type[exceptions.HolisticError]]:
    return {_name(kind): kind
            for module in _MODULES for kind in vars(module).values()
            if isinstance(kind, type)
            and issubclass(kind, exceptions.HolisticError)}


_CLASSES = _error_classes()
"""Only these classes are created from a message."""


def to_document(error: exceptions.HolisticError) -> dict[str, Any]:
    """Plain data of an error, with its nearest base class that the receiver
    knows.
    """
    kind = next(kind for kind in type(error).__mro__
                if _name(kind) in _CLASSES)
    document = {'class': _name(kind), 'text': str(error), 'fields': {
        name: value for name, value in vars(error).items()
        if isinstance(value, str | int | float | None)}}
    if isinstance(error, exceptions.InvalidDocument):
        document['more'] = [to_document(each) for each in error.more]
    return document


def from_document(document: Mapping[str, Any]) -> exceptions.HolisticError:
    """The error with the class, text and fields in the data."""
    kind = _CLASSES.get(document['class'], exceptions.HolisticError)
    # The constructor would create the text from other arguments.
    error = kind.__new__(kind, document['text'])
    vars(error).update(document['fields'])
    if isinstance(error, exceptions.InvalidDocument):
        # An earlier version sends only one mistake.
        error.more = tuple(map(from_document, document.get('more', ())))
    return error
