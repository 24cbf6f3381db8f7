# SPDX-License-Identifier: Apache-2.0
"""Masks of dedicated processors are read as Nova reads them."""

from hypothesis import given
from hypothesis import strategies as st
from nova import exception
from nova.virt import hardware

from nova_holistic.model.nova import mixed_cpus
from tests.effort import examples

NUMBERS = st.integers(0, 6).map(str)
RULES = st.one_of(
    NUMBERS, NUMBERS.map('^{}'.format),
    st.tuples(NUMBERS, NUMBERS).map('-'.join),
    st.tuples(NUMBERS, NUMBERS).map(lambda ends: '^' + ' - '.join(ends)),
    st.sampled_from(['', ' ', 'x', '-1', '1-', '^', '1 2', '99999999']))
MASKS = st.lists(RULES, min_size=1, max_size=4).map(','.join)


class Flavor(dict):
    """The part of Nova's object that the function reads."""

    @property
    def vcpus(self):
        return self['vcpus']


@given(MASKS, st.integers(1, 6))
@examples(400)
def test_a_mask_selects_the_processors_that_nova_selects(mask, vcpus):
    specs = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': mask}
    try:
        found = hardware.get_dedicated_cpu_constraint(Flavor(
            vcpus=vcpus, extra_specs=specs))
    except (exception.Invalid, exception.InvalidMixedInstanceDedicatedMask):
        found = None
    if not found:
        assert mixed_cpus.unplannable_reason(specs, vcpus)
    else:
        assert mixed_cpus.unplannable_reason(specs, vcpus) == ''
        assert mixed_cpus.dedicated_cpus(specs, vcpus) == len(found)
