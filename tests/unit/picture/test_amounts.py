# SPDX-License-Identifier: Apache-2.0
"""The text for amounts of resources and for bounds in a picture."""

import math

from nova_holistic.model.plan import ObjectiveValue
from nova_holistic.picture import amounts
import pytest


@pytest.mark.parametrize('resource_class, taken, capacity, said', [
    ('VCPU', 11, 32, '11 / 32'),
    ('MEMORY_MB', 77824, 129024, '76 / 126 GiB'),
    ('MEMORY_MB', 512, 2048, '512 / 2048 MiB'),
    ('DISK_GB', 420, 1000, '420 / 1000 GB'),
    ('DISK_GB', 1500, 20000, '1.5 / 20 TB'),
    ('CUSTOM_FPGA', 1, 2, '1 / 2'),
])
def test_amounts_are_shown_in_a_suitable_unit(
        resource_class, taken, capacity, said):
    assert amounts.ratio(resource_class, taken, capacity) == said


def test_custom_classes_are_shown_without_their_prefix():
    assert amounts.name('CUSTOM_FPGA') == 'fpga'


def test_a_bound_is_shown_with_its_gap():
    assert amounts.bound(ObjectiveValue('spread', 5, 4, 0.2)) == (
        'bound 4, gap 20.0%')


def test_an_infinite_bound_is_shown_as_nothing_proved():
    value = ObjectiveValue('spread', 5, -math.inf, math.inf)
    assert amounts.bound(value) == 'nothing proved'
