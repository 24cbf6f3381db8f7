# SPDX-License-Identifier: Apache-2.0
"""The cached providers equal those of a real Placement, and only changes cause
requests."""

from hypothesis import given, HealthCheck, strategies as st
import pytest

from tests.effort import examples
from tests.functional.changing_providers import (  # noqa: F401
    BOTH, METAL, metal_placement, ODD, PLAIN, Providers, step, VERSION)


@pytest.fixture
def providers(placement):
    return Providers(placement)


@pytest.mark.parametrize('number', [2, 12])
@pytest.mark.parametrize('changed', [0, 2])
def test_requests_depend_only_on_changed_providers(providers, number, changed):
    for _ in range(number):
        providers.add(PLAIN)
    providers.read()
    # One request reads the inventories of each provider. The lists contain the
    # traits, and show that no provider has a consumer.
    assert (providers.lists, providers.parts) == (2, number)
    consumers = [providers.allocate({one: {'VCPU': 1}})
                 for one in providers.uuids[:changed]]
    providers.read()
    assert (providers.lists, providers.parts) == (2, 2 * changed)
    for consumer in consumers:
        providers.free(consumer)
    providers.read()
    assert (providers.lists, providers.parts) == (2, changed)
    for one in providers.uuids[:changed]:
        providers.give_traits(one, ['CUSTOM_NONE', 'HW_CPU_X86_AVX'][1:])
    assert providers.read()[providers.uuids[0]].traits == (
        {'HW_CPU_X86_AVX'} if changed else set())
    assert (providers.lists, providers.parts) == (2, 2 * changed)
    providers.read()
    assert (providers.lists, providers.parts) == (2, 0)


@pytest.mark.parametrize('used', [0, 1, 4])
def test_the_consumers_of_a_new_provider_without_use_are_not_read(
        providers, used):
    ones = [providers.add(PLAIN) for _ in range(4)]
    for one in ones[:used]:
        providers.allocate({one: {'VCPU': 1}})
    found = providers.read()
    assert (providers.lists, providers.parts) == (2, 4 + used)
    assert [found[one].consumers for one in ones] == (
        [1] * used + [0] * (4 - used))
    assert found == providers.one_by_one()


@pytest.mark.parametrize('counted', [False, True])
def test_a_consumer_that_comes_after_the_list_of_use_is_found(
        providers, counted):
    one = providers.add(PLAIN)
    providers.before['inventories'] = lambda: providers.allocate(
        {one: {'VCPU': 3}})
    found = providers.read(counted)[one]
    assert not providers.before
    assert (found.consumers, found.used()['VCPU']) == (1, 3)


@pytest.mark.parametrize('used', [0, 1, 4])
def test_a_new_provider_takes_one_request_if_consumers_need_no_count(
        providers, used):
    ones = [providers.add(PLAIN) for _ in range(4)]
    for one in ones[:used]:
        for _ in range(2):
            providers.allocate({one: {'VCPU': 1, 'MEMORY_MB': 3}})
    found = providers.read(counted=False)
    assert (providers.lists, providers.parts) == (2, 4)
    counted = providers.one_by_one()
    assert [found[one].consumers for one in ones] == (
        [1] * used + [0] * (4 - used))
    assert {uuid: one.used() for uuid, one in found.items()} == {
        uuid: one.used() for uuid, one in counted.items()}
    # Consumers are counted when a read first needs their number.
    assert providers.read(counted=False) == found
    assert providers.parts == 0
    assert providers.read() == counted
    assert providers.parts == used
    assert providers.read() == counted
    assert providers.parts == 0


@pytest.mark.parametrize('counted', [False, True])
def test_new_providers_without_a_free_vcpu_are_in_another_list(
        providers, counted):
    ones = [providers.add(PLAIN) for _ in range(4)]
    for one in ones[:3]:
        providers.allocate({one: {'VCPU': 8}})
    found = providers.read(counted)
    assert (providers.lists, providers.parts) == (3, 4 + 3 * counted)
    assert [found[one].used()['VCPU'] for one in ones] == [8, 8, 8, 0]


@pytest.mark.parametrize('counted', [False, True])
def test_an_uncounted_provider_whose_use_changes_is_counted(
        providers, counted):
    one = providers.add(PLAIN)
    consumer = providers.allocate({one: {'VCPU': 1}})
    providers.allocate({one: {'VCPU': 2}})
    assert not providers.read(counted=False)[one].is_counted
    providers.free(consumer)
    assert providers.read(counted) == providers.one_by_one()


@pytest.mark.parametrize('number', [2, 12])
def test_full_hosts_are_read_in_lists_and_not_one_by_one(providers, number):
    for _ in range(number):
        providers.allocate({providers.add(PLAIN): {'VCPU': 8}})
    providers.add(PLAIN)
    providers.read()
    providers.read()
    # All providers have free memory, and are in the list of such providers.
    assert (providers.lists, providers.parts) == (2, 0)
    for _ in range(number):
        providers.allocate({providers.add(PLAIN): {
            'VCPU': 1, 'MEMORY_MB': 64}})
        providers.allocate({providers.add(METAL): {'CUSTOM_METAL': 1}})
    providers.read()
    providers.read()
    # The lists show providers with free VCPU, MEMORY_MB and CUSTOM_METAL.
    assert (providers.lists, providers.parts) == (4, 0)


def test_a_fully_reserved_class_is_never_queried(providers):
    providers.allocate({providers.add(ODD): {'VCPU': 8}})
    providers.read()
    providers.read()
    # The second list shows whether VCPUs are free again.
    assert (providers.lists, providers.parts) == (2, 0)


def test_a_bare_metal_node_that_becomes_free_is_noticed(providers):
    nodes = [providers.add(METAL) for _ in range(3)]
    consumers = [providers.allocate({node: {'CUSTOM_METAL': 1}})
                 for node in nodes]
    assert providers.read()[nodes[1]].used() == {'CUSTOM_METAL': 1}
    providers.free(consumers[1])
    assert providers.read()[nodes[1]].used() == {'CUSTOM_METAL': 0}
    assert providers.parts == 1


def test_freed_pcpus_are_noticed_while_vcpus_are_full(providers):
    one = providers.add(BOTH)
    providers.allocate({one: {'VCPU': 8}})
    consumer = providers.allocate({one: {'PCPU': 8, 'MEMORY_MB': 64}})
    assert providers.read()[one].consumers == 2
    providers.free(consumer)
    found = providers.read()[one]
    assert found.used() == {'VCPU': 8, 'PCPU': 0, 'MEMORY_MB': 0}
    assert found.consumers == 1


def test_providers_left_out_of_a_list_are_read(providers, placement):
    ones = [providers.add(PLAIN) for _ in range(4)]
    consumers = [providers.allocate({one: {'VCPU': 8, 'MEMORY_MB': 64}})
                 for one in ones]
    providers.read()
    placement.conf.set_override('max_allocation_candidates', 1, 'placement')
    for consumer in consumers[1:]:
        providers.free(consumer)
    found = providers.read()
    assert [found[one].used()['VCPU'] for one in ones] == [8, 0, 0, 0]
    consumer = providers.allocate({one: {'VCPU': 1} for one in ones[1:]})
    assert providers.read() == providers.anew()
    providers.free(consumer)
    assert providers.read() == providers.anew()


def test_a_deleted_provider_is_forgotten(providers, placement):
    first, second = providers.add(PLAIN), providers.add(PLAIN)
    assert set(providers.read()) == {first, second}
    placement.adapter.delete(f'/resource_providers/{first}')
    assert set(providers.read()) == {second}
    assert providers.parts == 0


@pytest.mark.parametrize('part', ['allocations', 'inventories'])
def test_traits_added_after_the_list_are_noticed(providers, part):
    one = providers.add(PLAIN)
    providers.allocate({one: {'VCPU': 1}})
    providers.before[part] = lambda: providers.give_traits(
        one, ['HW_CPU_X86_AVX'])
    assert providers.read()[one].traits == {'HW_CPU_X86_AVX'}


def test_a_change_between_two_answers_is_noticed_next_time(providers):
    one = providers.add(PLAIN)
    providers.before['inventories'] = lambda: providers.allocate(
        {one: {'VCPU': 3}})
    providers.read()
    assert not providers.before
    assert providers.read()[one].used() == {'VCPU': 3, 'MEMORY_MB': 0}
    # The provider is full before it is read, so that it is in no list. During
    # the read, it gets free capacity.
    providers.offer(one, {'VCPU': {'total': 3}})
    providers.before['traits'] = lambda: providers.offer(one, PLAIN)
    providers.read()
    assert not providers.before
    assert providers.read() == providers.anew()


@examples(25, HealthCheck.function_scoped_fixture)
@given(data=st.data())
def test_cached_providers_equal_freshly_read_ones(placement, data):
    providers = Providers(placement)
    for inventories in (PLAIN, PLAIN, BOTH, ODD, METAL):
        providers.add(inventories)
    consumers = []
    try:
        for _ in range(data.draw(st.integers(1, 5))):
            for _ in range(data.draw(st.integers(0, 4))):
                step(data.draw, providers, consumers)
            assert (providers.read() == providers.anew()
                    == providers.one_by_one())
    finally:
        for consumer in consumers:
            providers.free(consumer)
