# SPDX-License-Identifier: Apache-2.0
"""Arrays that are updated after changes of the cloud equal newly built arrays.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
import gc
import threading
import weakref

from hypothesis import given, strategies as st
import numpy as np
import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.solver.problem.arrays import HostArrays
from nova_holistic.solver.problem.hosts import HostTable
from tests.unit.builders import cloud, host

CLASSES = ('VCPU', 'MEMORY_MB', 'CUSTOM_X')
TREES = (('az', 'rack', 'host'), ('az', 'host'))
LEVELS = ('az', 'rack', 'host', 'power_feed')


def amounts():
    return st.builds(
        Inventory, total=st.sampled_from([0, 1, 16, 10**9]),
        used=st.integers(0, 20), allocation_ratio=st.sampled_from(
            [0.9, 1.0, 16.0]), min_unit=st.sampled_from([1, 2]),
        step_size=st.sampled_from([1, 4]))


CHANGES = {
    'inventories': st.dictionaries(
        st.sampled_from(CLASSES), amounts()).map(FrozenMapping),
    'location': st.lists(
        st.sampled_from('ab'), max_size=2).map(tuple),
    'labels': st.dictionaries(
        st.just('power_feed'), st.sampled_from('AB')).map(FrozenMapping),
    'enabled': st.booleans(),
    'name': st.sampled_from([f'h{number}' for number in range(12)]),
    'servers': st.integers(0, 3),
    'traits': st.just(frozenset({'CUSTOM_T'})),
    'aggregates': st.just(frozenset({'ssd'})),
}


def changed(draw, snapshot):
    """Return the snapshot after a random change, or unchanged."""
    hosts = list(snapshot.hosts)
    what = draw(st.sampled_from([
        'nothing', 'add', 'remove', 'reorder', 'levels', *CHANGES]))
    if what == 'levels':
        return replace(snapshot, levels=draw(st.sampled_from(TREES)))
    if what == 'add':
        at = draw(st.integers(0, len(hosts)))
        hosts.insert(at, host(draw(CHANGES['name']), *draw(
            CHANGES['location'])))
    elif what == 'reorder':
        hosts = draw(st.permutations(hosts))
    elif hosts and what != 'nothing':
        at = draw(st.integers(0, len(hosts) - 1))
        hosts[at:at + 1] = () if what == 'remove' else (
            replace(hosts[at], **{what: draw(CHANGES[what])}),)
    names = [each.name for each in hosts]
    return replace(snapshot, hosts=tuple(hosts)) if len(
        set(names)) == len(names) else snapshot


def assert_same(table, other):
    assert table.hosts == other.hosts
    assert table.index == other.index
    assert table.enabled.tolist() == other.enabled.tolist()
    for name in CLASSES:
        for field in fields(table.amounts(name)):
            one, two = (getattr(each.amounts(name), field.name)
                        for each in (table, other))
            assert one.dtype == two.dtype
            assert one.tolist() == two.tolist()
    for level in LEVELS:
        one, two = table.division(level), other.division(level)
        assert (one.domains, one.index) == (two.domains, two.index)
        assert one.of_host.tolist() == two.of_host.tolist()


@given(st.data())
def test_updated_arrays_equal_newly_built_ones(data):
    snapshot = cloud(
        *(host(f'h{number}', 'a', 'ab'[number % 2], labels={
            'power_feed': 'A'}, vcpus=number)
          for number in range(data.draw(st.integers(0, 4)))),
        levels=TREES[0])
    for _ in range(data.draw(st.integers(1, 6))):
        table = HostTable.of(snapshot)
        # The table holds only amounts and divisions that were requested.
        for name in data.draw(st.sets(st.sampled_from(CLASSES))):
            table.amounts(name)
        for level in data.draw(st.sets(st.sampled_from(LEVELS))):
            table.division(level)
        # A snapshot may change several times between two plans.
        for _ in range(data.draw(st.integers(1, 3))):
            snapshot = changed(data.draw, snapshot)
    alone = Snapshot(snapshot.levels, snapshot.hosts)
    assert_same(HostTable.of(snapshot), HostTable.of(alone))


class Watched(FrozenMapping):
    """Inventories that count how often they are read."""

    looks = 0

    def get(self, key, default=None):
        type(self).looks += 1
        return super().get(key, default)


@pytest.mark.parametrize('number', [0, 1, 7])
def test_only_rows_of_changed_hosts_are_computed(number):
    Watched.looks = 0
    before = cloud(*(replace(
        host(f'h{h:03}', 'r1'), inventories=Watched({'VCPU': Inventory(8)}))
        for h in range(200)))
    HostTable.of(before).amounts('VCPU')
    assert Watched.looks == 200
    after = replace(before, hosts=tuple(
        replace(each, inventories=Watched({'VCPU': Inventory(8, used=3)}))
        if h < number else each for h, each in enumerate(before.hosts)))
    Watched.looks = 0
    table = HostTable.of(after)
    assert table.amounts('VCPU').free.tolist() == (
        [5] * number + [8] * (200 - number))
    # A changed host is read to compare it and to update its row.
    assert Watched.looks <= 3 * number


def test_unchanged_arrays_are_shared():
    before = cloud(host('h1', 'r1'), host('h2', 'r2'))
    first = HostTable.of(before)
    racks, vcpus = first.division('rack'), first.amounts('VCPU')
    emptier = before.without_servers(['h1'])
    assert HostTable.of(emptier).amounts('VCPU') is vcpus
    closed = replace(before, hosts=(
        before.hosts[0], replace(before.hosts[1], enabled=False)))
    assert HostTable.of(closed).division('rack') is racks
    assert HostTable.of(closed).enabled.tolist() == [True, False]
    assert HostTable.of(before).enabled.tolist() == [True, True]


def test_arrays_cannot_be_written_to():
    table = HostTable.of(cloud(host('h1', 'r1')))
    with pytest.raises(ValueError, match='read-only'):
        table.amounts('VCPU').free[0] = 7
    with pytest.raises(ValueError, match='read-only'):
        table.enabled[0] = False


def test_a_subset_belongs_to_one_table():
    snapshot = cloud(host('h1', 'r1'), host('h2', 'r2'))
    one, two = HostTable.of(snapshot), HostTable.of(snapshot)
    chosen = one.subset(frozenset([0]))
    assert one.hosts_of(chosen.level, chosen).tolist() == [0]
    assert one.is_subset(chosen.level)
    assert not two.is_subset(chosen.level)
    assert two.hosts_of(chosen.level, chosen).tolist() == []


def test_earlier_snapshots_are_not_kept():
    snapshot = cloud(*(host(f'h{h}', 'r1') for h in range(3)))
    gone = []
    for used in range(5):
        HostTable.of(snapshot).amounts('VCPU')
        gone.append(weakref.ref(HostArrays.of(snapshot)))
        snapshot = replace(snapshot, hosts=(
            host('h0', 'r1', inventories={'VCPU': Inventory(9, used=used)}),
            *snapshot.hosts[1:]))
    HostTable.of(snapshot)
    gc.collect()
    assert [each() for each in gone] == [None] * 5


def test_classes_and_levels_of_no_host_are_not_kept():
    snapshot = cloud(host('h1', 'r1'))
    for number in range(3):
        table = HostTable.of(snapshot)
        assert not table.amounts(f'CUSTOM_{number}').offered.any()
        assert not table.division(f'level_{number}').domains
        snapshot = replace(snapshot)
    carried = HostArrays.of(snapshot)
    assert not carried._amounts and not carried._divisions


def test_concurrent_updates_give_equal_arrays():
    clouds = [cloud(*(host(f'h{h:03}', f'r{h % 7}', vcpus=h % 30 + 1)
                      for h in range(300)))]
    for step in range(20):
        clouds.append(replace(clouds[-1], hosts=tuple(
            replace(each, inventories=FrozenMapping(
                {'VCPU': Inventory(step + h)})) if h % 20 == step else each
            for h, each in enumerate(clouds[-1].hosts))))
    ready = threading.Barrier(4)

    def follow(start):
        ready.wait()
        found = []
        for snapshot in clouds[start % 2:]:
            table = HostTable.of(snapshot)
            found.append((snapshot, table.amounts('VCPU').free.copy(),
                          table.division('rack').of_host.copy()))
        return found

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(follow, range(4)):
            for snapshot, free, racks in found:
                alone = HostTable.of(Snapshot(snapshot.levels,
                                              snapshot.hosts))
                assert np.array_equal(free, alone.amounts('VCPU').free)
                assert np.array_equal(racks, alone.division('rack').of_host)


def test_the_mask_of_domains_contains_exactly_their_hosts():
    snapshot = cloud(
        host('a', 'r1'), host('b', 'r2'),
        host('c', 'r2'), host('d', 'r3'),
        host('e'))
    division = HostTable.of(snapshot).division('rack')
    domains = [snapshot.domain(snapshot.hosts[n], 'rack') for n in (1, 3)]
    assert division.mask(frozenset(domains)).tolist() == [
        False, True, True, True, False]
    assert not division.mask(frozenset()).any()
