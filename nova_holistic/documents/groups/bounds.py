# SPDX-License-Identifier: Apache-2.0
"""The count of a document as numbers that may change."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.members.bounds import Bounds


def read_bounds(count: Any, place: str) -> Bounds | None:
    """The bounds of a count; None if the count is a number or is missing.

    :param place: position of the count in its document
    :raises InvalidDocument: not min <= desired <= max
    """
    if not isinstance(count, dict):
        return None
    desired = count['desired']
    bounds = Bounds(count.get('min', desired), desired,
                    count.get('max', max(desired, 1)))
    if bounds.least > desired:
        raise InvalidDocument(
            join(place, 'min'), f'{bounds.least} is more than desired, '
            f'{desired}')
    if bounds.most < desired:
        raise InvalidDocument(
            join(place, 'max'), f'{bounds.most} is less than desired, '
            f'{desired}')
    return bounds


def has_bounds(document: Mapping[str, Any]) -> bool:
    """Whether the number of a member, or of a nested group, may change.

    :param document: an accepted document without its outer key
    """
    return any(isinstance(each.get('count'), Mapping)
               for kind in ('members', 'groups')
               for each in document.get(kind, ())) or any(
                   has_bounds(each) for each in document.get('groups', ()))


def with_numbers(count: Any, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The count with other numbers. If only the desired number is given, the
    minimum and the maximum change as far as necessary.

    :param count: the count of a document; a number stands for all three
    """
    before = count if isinstance(count, Mapping) else {'desired': count}
    desired = before['desired']
    found = {'min': before.get('min', desired), 'desired': desired,
             'max': before.get('max', max(desired, 1)), **numbers}
    wanted = found['desired']
    if _is_number(wanted):
        if 'min' not in numbers and _is_number(found['min']):
            found['min'] = min(found['min'], wanted)
        if 'max' not in numbers and _is_number(found['max']):
            found['max'] = max(found['max'], wanted)
    return found


def must_have_number(count: Any, place: str) -> None:
    """
    :param count: a count that may not have been checked yet
    :param place: position of the count that is added to it
    :raises InvalidDocument: it has no number to which another can be added
    """
    if not _is_number(
            count.get('desired') if isinstance(count, Mapping) else count):
        raise InvalidDocument(
            place, 'the count to which this one is added must be a whole '
            'number, or a mapping with desired')


def _is_number(value: Any) -> bool:
    """The value has not been checked yet."""
    return isinstance(value, int) and not isinstance(value, bool)
