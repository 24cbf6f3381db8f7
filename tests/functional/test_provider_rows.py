# SPDX-License-Identifier: Apache-2.0
"""The data from Placement's database equal the responses of its API.

The database of a real Placement is in memory. Each test reads a copy of it in
a file. tests/databases does the same on MariaDB and PostgreSQL.
"""

from hypothesis import given, HealthCheck, strategies as st
import pytest

from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from tests.effort import examples
from tests.functional.changing_providers import (  # noqa: F401
    BOTH, METAL, metal_placement, ODD, PLAIN, Providers, step, VERSION)
from tests.statements import recorded


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'placement.sqlite'


@pytest.fixture
def rows(path):
    return ProviderRows(PlacementDatabase(f'sqlite:///{path}'))


def test_later_reads_are_of_what_has_changed(placement, path, rows):
    providers = Providers(placement)
    for _ in range(3):
        providers.add(PLAIN)

    def read():
        placement.save(path)
        with recorded() as recorder:
            found = rows.read(providers.uuids)
        return found, len(recorder.sent)

    first, statements = read()
    assert first == providers.anew()
    # The five statements below, and those for traits, inventories, and traits
    # of providers.
    assert statements == 8
    second, statements = read()
    assert all(second[uuid] is first[uuid] for uuid in first)
    # They read the revision, providers, resource classes, usages and
    # consumers.
    assert statements == 5
    one, other, _ = providers.uuids
    consumer = providers.allocate({one: {'VCPU': 2}})
    third, statements = read()
    assert third[one].used() == {'VCPU': 2, 'MEMORY_MB': 0}
    assert third[one].consumers == 1
    assert third[other] is first[other]
    assert statements == 8
    # A deletion does not raise the generation.
    providers.free(consumer)
    fourth, statements = read()
    assert fourth[one].used() == {'VCPU': 0, 'MEMORY_MB': 0}
    assert statements == 5
    assert fourth == providers.anew()


def test_the_list_is_that_of_the_api(placement, path, rows):
    providers = Providers(placement)
    one = providers.add(PLAIN)
    placement.adapter.post('/resource_providers', microversion=VERSION, json={
        'name': 'nested', 'parent_provider_uuid': one})
    placement.save(path)
    assert rows.list() == providers.reader.list()
    assert sorted(each.root for each in rows.list().values()) == [False, True]


def test_a_deleted_provider_is_gone(placement, path, rows):
    providers = Providers(placement)
    first, second = providers.add(PLAIN), providers.add(PLAIN)
    placement.save(path)
    rows.read(providers.uuids)
    placement.adapter.delete(f'/resource_providers/{first}')
    placement.save(path)
    assert rows.reread(providers.uuids)[first] is None
    assert set(rows.read(providers.uuids)) == {second}


@pytest.fixture(params=['rows', 'answers'])
def source(request, placement, path, rows):
    """A source of providers, and a function that makes changes visible."""
    if request.param == 'rows':
        return rows, lambda: placement.save(path)
    return Providers(placement).reader, lambda: None


@pytest.mark.parametrize('name', ['read', 'reread'])
def test_a_compute_that_returns_with_more_memory_is_read_again(
        placement, source, name):
    """An operator has removed a compute node. It returns with the same UUID,
    and its provider has the same generation."""
    providers = Providers(placement)
    one, _ = providers.add(PLAIN), providers.add(PLAIN)
    reader, show = source
    show()
    before = reader.read(providers.uuids)[one]
    placement.adapter.delete(f'/resource_providers/{one}')
    show()
    # Engines read the list every minute.
    assert one not in reader.list()
    providers.add(PLAIN | {'MEMORY_MB': {'total': 128}}, one)
    show()
    after = getattr(reader, name)([one])[one]
    assert after.generation == before.generation
    assert after.inventories['MEMORY_MB'].total == 128


@examples(15, HealthCheck.function_scoped_fixture)
@given(data=st.data())
def test_rows_equal_the_answers_of_the_api(placement, path, rows, data):
    providers = Providers(placement)
    for inventories in (PLAIN, PLAIN, BOTH, ODD, METAL):
        providers.add(inventories)
    consumers = []
    try:
        for _ in range(data.draw(st.integers(1, 4))):
            for _ in range(data.draw(st.integers(0, 4))):
                step(data.draw, providers, consumers)
            placement.save(path)
            found = rows.read(providers.uuids)
            assert found == providers.anew()
            assert rows.reread(providers.uuids) == found
            # The providers of earlier examples still exist.
            assert rows.with_trait('HW_CPU_X86_AVX') & found.keys() == {
                uuid for uuid in found if found[uuid].traits}
    finally:
        for consumer in consumers:
            providers.free(consumer)
