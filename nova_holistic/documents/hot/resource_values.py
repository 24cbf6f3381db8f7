# SPDX-License-Identifier: Apache-2.0
"""Values of resources, checked at their positions."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.hot.functions import function_name, Resolver
from nova_holistic.documents.schemas.group import MAX_MEMBERS
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument

INDEX = '%index%'
SHORTEST_INDEX = 3
LONGEST = 255


def count(outer: Mapping[str, Any], resolver: Resolver, place: str) -> int:
    """The ``count`` of an OS::Heat::ResourceGroup.

    :param outer: properties of the resource
    """
    place = join(place, 'count')
    found = resolver.value(outer.get('count'), place)
    found = 1 if found is None else whole(found, place, 0)
    if found > MAX_MEMBERS:
        raise InvalidDocument(place, f'must be at most {MAX_MEMBERS}')
    return found


def elastic(outer: Mapping[str, Any], resolver: Resolver,
            place: str) -> dict[str, int]:
    """``count`` of a member whose servers an OS::Heat::AutoScalingGroup
    creates. The minimum is the desired number, because Heat creates all of
    these servers. Sizes that Heat refuses are mistakes.

    :param outer: properties of the resource
    """
    found = {}
    for key in ('min_size', 'max_size', 'desired_capacity'):
        value = resolver.value(outer.get(key), join(place, key))
        if value is not None:
            found[key] = whole(value, join(place, key), 0)
    least, most = found.get('min_size', 0), found.get('max_size', 0)
    desired = found.get('desired_capacity', least)
    if most > MAX_MEMBERS:
        raise InvalidDocument(join(place, 'max_size'),
                              f'must be at most {MAX_MEMBERS}')
    if 'max_size' in found and most < least:
        raise InvalidDocument(join(place, 'max_size'),
                              f'{most} is less than min_size, {least}')
    if desired < least or 'max_size' in found and desired > most:
        raise InvalidDocument(
            join(place, 'desired_capacity'),
            f'{desired} is not between min_size, {least}, and max_size'
            + (f', {most}' if 'max_size' in found else ''))
    # One place is planned for a group that starts without servers.
    return {'desired': max(1, desired), 'max': max(1, desired, most)}


def index_variable(outer: Mapping[str, Any], resolver: Resolver,
                   place: str) -> str:
    """The text that an OS::Heat::ResourceGroup replaces by an index."""
    place = join(place, 'index_var')
    index = resolver.value(outer.get('index_var'), place)
    index = INDEX if index is None else index
    if not isinstance(index, str) or len(index) < SHORTEST_INDEX:
        raise InvalidDocument(
            place, f'must be text of at least {SHORTEST_INDEX} characters')
    return index


def check_removals(outer: Mapping[str, Any], resolver: Resolver,
                   place: str) -> None:
    """Refuse removals by name, because they leave out indexes that servers
    get."""
    place = join(place, 'removal_policies')
    policies = resolver.value(outer.get('removal_policies'), place) or []
    for i, policy in enumerate(
            policies if isinstance(policies, list) else [policies]):
        if not isinstance(policy, dict) or policy.get('resource_list'):
            raise InvalidDocument(
                join(place, i),
                'servers named for removal are not supported')


def written_out(around: Mapping[str, Any], key: str,
                place: str) -> dict[str, Any]:
    """A mapping in the template itself, which is empty by default.

    If pointers are added, or if servers are derived from other resources, a
    function cannot replace the whole value.
    """
    value = around.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict) or function_name(value):
        name = function_name(value)
        raise InvalidDocument(
            join(place, key), f'must be a literal mapping; the function {name}'
            ' is not supported here' if name
            else f'must be a mapping, not {brief(value)}')
    return value


def check_made(resource: dict, place: str) -> None:
    """Refuse a resource that may not be created with the stack."""
    for key, message in (
            ('condition', 'conditions are not supported for planned servers'),
            ('external_id', 'an existing resource cannot be planned')):
        if resource.get(key) is not None:
            raise InvalidDocument(join(place, key), message)


def text(value: Any, place: str) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > LONGEST:
        raise InvalidDocument(
            place, f'must be text of at most {LONGEST} characters, not '
            f'{brief(value)}')
    return value


def whole(value: Any, place: str, least: int) -> int:
    # Heat accepts a number as an integer if possible.
    if isinstance(value, str) and value.isdecimal() and len(value) <= 10:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidDocument(
            place, f'must be a whole number, at least {least}, not '
            f'{brief(value)}')
    return value
