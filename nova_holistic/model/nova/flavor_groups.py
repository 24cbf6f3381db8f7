# SPDX-License-Identifier: Apache-2.0
"""Granular request groups in a flavor's extra specs.

``resources1:VGPU=1`` and ``trait1:CUSTOM_FAST=required`` are one group, as in
nova.scheduler.utils.ResourceRequest.
"""

from collections.abc import Mapping
import re

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.request_group import ISOLATE, NONE, RequestGroup

GROUP_POLICY = 'group_policy'

_KEY = re.compile(r'(resources|trait)([A-Za-z0-9_-]{1,64}):(.+)$')
_AMOUNT = re.compile(r'\s*\+?\d+\s*')


def request_groups(specs: Mapping[str, str]) -> tuple[RequestGroup, ...]:
    """The groups, by suffix. Nova ignores amounts of 0 and values that are
    not numbers."""
    resources: dict[str, dict[str, int]] = {}
    traits: dict[str, dict[str, str]] = {}
    for key, value in specs.items():
        match = _KEY.match(key)
        if not match:
            continue
        kind, suffix, name = match.groups()
        if kind == 'trait':
            traits.setdefault(suffix, {})[name] = value
        elif _AMOUNT.fullmatch(value) and int(value):
            resources.setdefault(suffix, {})[name] = int(value)
    return tuple(
        RequestGroup(suffix, FrozenMapping(resources.get(suffix, {})), *(
            frozenset(name for name, value in traits.get(suffix, {}).items()
                      if value == wanted)
            for wanted in ('required', 'forbidden')))
        for suffix in sorted(resources.keys() | traits.keys()))


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
