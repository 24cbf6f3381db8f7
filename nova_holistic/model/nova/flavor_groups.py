# SPDX-License-Identifier: Apache-2.0
"""Amounts and granular request groups in a flavor's extra specs.

``resources1:VGPU=1`` and ``trait1:CUSTOM_FAST=required`` are one group, as in
nova.scheduler.utils.ResourceRequest.
"""

from collections.abc import Iterator, Mapping
import re

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.request_group import ISOLATE, NONE, RequestGroup

GROUP_POLICY = 'group_policy'

_KEY = re.compile(r'(resources|trait)([A-Za-z0-9_-]{1,64})?:(.+)$')
_AMOUNT = re.compile(r'\s*\+?\d+\s*')


def amounts(specs: Mapping[str, str]) -> Mapping[str, Mapping[str, int]]:
    """Amounts by suffix and resource class, including 0; the suffix of
    ``resources:VCPU`` is empty. As in Nova, values that are not amounts are
    ignored."""
    found: dict[str, dict[str, int]] = {}
    for suffix, name, value in _items(specs, 'resources'):
        if _AMOUNT.fullmatch(value):
            found.setdefault(suffix, {})[name] = int(value)
    return found


def request_groups(specs: Mapping[str, str]) -> tuple[RequestGroup, ...]:
    """The groups, by suffix. Amounts of 0 request nothing."""
    resources = {
        suffix: requested for suffix, values in amounts(specs).items()
        if suffix and (requested := {
            name: amount for name, amount in values.items() if amount})}
    traits: dict[str, dict[str, str]] = {}
    for suffix, name, value in _items(specs, 'trait'):
        if suffix:
            traits.setdefault(suffix, {})[name] = value
    return tuple(
        RequestGroup(suffix, FrozenMapping(resources.get(suffix, {})), *(
            frozenset(name for name, value in traits.get(suffix, {}).items()
                      if value == wanted)
            for wanted in ('required', 'forbidden')))
        for suffix in sorted(resources.keys() | traits.keys()))


def _items(specs: Mapping[str, str], kind: str
           ) -> Iterator[tuple[str, str, str]]:
    """Suffix, name and value of each extra spec of a kind."""
    for key, value in specs.items():
        match = _KEY.match(key)
        if match and match[1] == kind:
            yield match[2] or '', match[3], value


def group_policy(specs: Mapping[str, str]) -> str:
    """``none`` unless the flavor isolates its groups."""
    return ISOLATE if specs.get(GROUP_POLICY) == ISOLATE else NONE


def unplannable_reason(specs: Mapping[str, str]) -> str:
    """Why Placement would refuse the groups; '' if it would not."""
    groups = request_groups(specs)
    for each in groups:
        if not each.resources:
            return (f'the group trait{each.suffix} requests no resources')
    if len(groups) > 1 and specs.get(GROUP_POLICY) not in (NONE, ISOLATE):
        return (f'several request groups need the extra spec {GROUP_POLICY}, '
                f'{NONE} or {ISOLATE}')
    return ''
