# SPDX-License-Identifier: Apache-2.0
"""Numbers as text: amounts of resources and proved bounds."""

import math

from nova_holistic.model.plan import ObjectiveValue

_NAMES = {'VCPU': 'vCPU', 'PCPU': 'pCPU', 'MEMORY_MB': 'RAM',
          'DISK_GB': 'Disk'}
_UNITS = {'MEMORY_MB': ('MiB', 'GiB', 'TiB'), 'DISK_GB': ('GB', 'TB')}
_STEP = {'MEMORY_MB': 1024, 'DISK_GB': 1000}


def counted(number: int, noun: str) -> str:
    """The number with the noun in its singular or plural."""
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def name(resource_class: str) -> str:
    return _NAMES.get(resource_class,
                      resource_class.removeprefix('CUSTOM_').lower())


def ratio(resource_class: str, used: int, capacity: int) -> str:
    """``taken / capacity`` in the unit that suits the capacity."""
    if resource_class not in _UNITS:
        return f'{used} / {capacity}'
    units, step = _UNITS[resource_class], _STEP[resource_class]
    power = 0
    while capacity >= step ** (power + 1) * 10 and power + 1 < len(units):
        power += 1
    scale = step ** power
    return (f'{_short(used / scale)} / {_short(capacity / scale)} '
            f'{units[power]}')


def bound(objective: ObjectiveValue) -> str:
    """The proved bound of the objective; empty if no bound was proved."""
    if not math.isfinite(objective.bound):
        return 'nothing proved'
    return f'bound {objective.bound:.5g}, gap {objective.gap:.1%}'


def _short(value: float) -> str:
    return f'{value:.1f}'.removesuffix('.0')
