# SPDX-License-Identifier: Apache-2.0
"""Plans accept the same pools as Cinder's own filters."""

from unittest import mock

from cinder.scheduler.filters import capabilities_filter, capacity_filter
from cinder.scheduler import host_manager
from cinder.tests.functional import functional_helpers  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st
from oslo_utils import timeutils

from nova_holistic.cinder.filters import with_planned
from nova_holistic.inventory.cinder.extra_specs import satisfies
from nova_holistic.inventory.cinder.pools import pool_capacity
from tests.effort import examples

CAPACITIES = st.sampled_from(['infinite', 'unknown']) | st.integers(0, 60) | (
    st.floats(0, 60).map(lambda number: round(number, 2)))
REPORTS = st.fixed_dictionaries(
    {'total_capacity_gb': CAPACITIES, 'free_capacity_gb': CAPACITIES},
    optional={
        'provisioned_capacity_gb': st.integers(0, 150),
        'allocated_capacity_gb': st.integers(0, 150),
        'reserved_percentage': st.integers(0, 100),
        'thin_provisioning_support': st.booleans(),
        'max_over_subscription_ratio': st.sampled_from(
            [None, 'auto', '2.5', 1.0, 3, 0.5])})
VALUES = st.sampled_from(
    ['1', '2.5', 'fast', 'true', 'False', True, 3, None, ['fast', 'slow']])
WANTED = st.sampled_from(
    ['fast', '1', '>= 2', '<= 2', '== 2.5', '!= 1', '= 1', 's== fast',
     's!= fast', 's> a', '<in> as', '<is> True', '<is> false',
     '<or> slow <or> fast', '<or> x', '', 'True', '>='])


@given(REPORTS, st.integers(1, 260))
@examples(400)
def test_the_free_capacity_is_what_the_capacity_filter_accepts(report, size):
    assert (pool_capacity(report).inventory().free >= size) == accepts(
        pool_state(report), size)


@given(REPORTS, st.integers(1, 200), st.integers(1, 260))
@examples(400)
def test_planned_volumes_use_as_much_as_created_ones(report, planned, size):
    with_volumes = pool_state(report)
    with_volumes.consume_from_volume({'size': planned})
    state = pool_state(report)
    before = dict(vars(state))
    assert accepts(with_planned(state, planned), size) == accepts(
        with_volumes, size)
    assert vars(state) == before


def pool_state(report):
    state = host_manager.PoolState('host@backend', None, None, 'pool')
    with mock.patch.object(host_manager.BackendState, 'update_backend'):
        state.update_from_volume_capability(
            {**report, 'timestamp': timeutils.utcnow()})
    return state


def accepts(state, size):
    try:
        return capacity_filter.CapacityFilter().backend_passes(
            state, {'size': size, 'request_spec': {'volume_id': 'v'}})
    except ZeroDivisionError:
        # Cinder fails each request if a pool with thin provisioning reserves
        # its whole capacity.
        return False


@given(st.dictionaries(st.sampled_from(['a', 'b']), VALUES),
       st.dictionaries(st.sampled_from(
           ['a', 'b', 'capabilities:a', 'vendor:a', 'capabilities:a:b']),
           WANTED))
@examples(400)
def test_extra_specs_are_compared_as_in_the_capabilities_filter(found, wanted):
    filter_ = capabilities_filter.CapabilitiesFilter()
    try:
        expected = filter_._satisfies_extra_specs(
            found, {'resource_type': {'extra_specs': wanted}})
    except (TypeError, AttributeError):
        # Cinder compares what cannot be compared, and fails the request.
        expected = False
    assert satisfies(found, wanted) == expected
