# SPDX-License-Identifier: Apache-2.0
"""Servers with dedicated and shared processors: ``hw:cpu_policy=mixed``.

Source: nova.virt.hardware.get_dedicated_cpu_constraint and parse_cpu_spec.
"""

from collections.abc import Mapping
import re

MIXED = 'mixed'
MASK = 'hw:cpu_dedicated_mask'

_POLICY = 'hw:cpu_policy'
_LONGEST = 1 << 16
"""Maximum number of processors in one range. No flavor has more."""
_RULE = re.compile(r'(\^?)\s*(\d+)\s*(?:-\s*(\d+)\s*)?')


def dedicated_cpus(specs: Mapping[str, str], vcpus: int) -> int:
    """The number of dedicated processors of a server with both kinds.

    :param specs: extra specs without an ``unplannable_reason``
    :param vcpus: number of processors of the flavor
    """
    return len(_masked(specs[MASK], vcpus))


def unplannable_reason(specs: Mapping[str, str], vcpus: int) -> str:
    """The reason why a flavor cannot be planned because of this policy; '' if
    it can, or if it has another policy and no mask."""
    mask = specs.get(MASK, '')
    if specs.get(_POLICY) != MIXED:
        return f'extra spec {MASK}: requires {_POLICY}={MIXED}' if mask else ''
    if not mask:
        return (f'extra spec {_POLICY}={MIXED}: without {MASK}, Placement '
                'does not know which of its processors are dedicated')
    masked = _masked(mask, vcpus)
    if not masked or not masked < set(range(vcpus)):
        return (f'extra spec {MASK}: must select some, but not all, of the '
                f'processors 0 to {vcpus - 1}')
    return ''


def _masked(mask: str, vcpus: int) -> set[int]:
    """The processors that a mask such as ``0-3,^2`` selects; a mask that
    begins with ``^`` selects all others. Empty if the mask is invalid."""
    if mask.strip().startswith('^'):
        mask = f'0-{vcpus - 1},{mask}'
    found: tuple[set[int], set[int]] = set(), set()
    for rule in filter(None, map(str.strip, mask.split(','))):
        match = _RULE.fullmatch(rule)
        if match is None:
            return set()
        excluded, first, last = match.groups()
        ids = range(int(first), int(last or first) + 1)
        if not 0 < len(ids) <= _LONGEST:
            return set()
        found[bool(excluded)].update(ids)
    return found[0] - found[1]
