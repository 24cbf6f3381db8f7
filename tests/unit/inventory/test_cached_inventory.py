# SPDX-License-Identifier: Apache-2.0
"""The cached snapshot follows the cloud, even if an engine misses
notifications."""

from concurrent import futures
from functools import partial
import threading

from hypothesis import given, strategies as st
import pytest

from nova_holistic.inventory.cached_inventory import (
    CachedInventory, RECENT, REPEAT_AFTER)
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.pending_reads import PendingReads
from nova_holistic.inventory import received_work
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from tests.effort import examples
from tests.unit.inventory.clouds import Cloud, MemoryInventory, MemoryReader

HOSTS = [f'h{number}' for number in range(5)]
INTERVAL = 2.0


class Followed:
    """A cloud in memory and a cached inventory of it."""

    def __init__(self):
        self.cloud = Cloud({host: 0 for host in HOSTS[:3]})
        self.now = 0.0
        inventory = MemoryInventory(self.cloud)
        self.reader = inventory.reader
        self.kept = CachedInventory(
            inventory, self.reader, INTERVAL, lambda: self.now)
        self.kept.uncounted_snapshot()

    def fresh(self):
        return MemoryInventory(self.cloud).snapshot()

    def used(self, snapshot):
        return {host.name: host.inventories['VCPU'].used
                for host in snapshot.hosts}

    def compare_all(self):
        """Run a comparison from its beginning to its end."""
        for _ in range(2):
            self.kept.compare()
            while self.kept.is_comparing:
                self.kept.compare()

    def change(self, kind, host):
        cloud = self.cloud
        if kind == 'use':
            cloud.used[host] = cloud.used.get(host, 0) + 1
        elif kind == 'free':
            cloud.used[host] = 0
        elif kind == 'remove':
            cloud.used.pop(host, None)
        elif kind == 'rack':
            cloud.racks[host] = f'r{len(cloud.racks)}'
        else:
            found = getattr(cloud, kind)
            found ^= {host}

    def hold(self, host, number=1, meanwhile=lambda: None):
        """Change the use of a host, as this process does.

        :param meanwhile: called before the inventory learns of the change
        """
        since = self.kept.moment()
        self.cloud.used[host] += number
        meanwhile()
        self.kept.change_use(since, {host: UseChange(
            number, FrozenMapping({'VCPU': number}))})

    def report(self, kind, host):
        if kind in ('use', 'free', 'bare'):
            self.kept.mark_hosts([host])
        else:
            self.kept.mark_nova()


@pytest.fixture
def followed():
    return Followed()


STEPS = st.one_of(
    st.tuples(
        st.sampled_from(['use', 'free', 'remove', 'rack', 'down', 'disabled',
                         'bare', 'flavors', 'hold']),
        st.sampled_from(HOSTS), st.booleans()),
    st.sampled_from(['cached_snapshot', 'follow', 'compare', 'read_nova',
                     'snapshot', 'uncounted_snapshot', 'recent_snapshot',
                     'invalidate']))


@examples(200)
@given(st.lists(STEPS, max_size=30))
def test_after_a_comparison_the_kept_snapshot_is_like_a_fresh_one(steps):
    followed = Followed()
    for step in steps:
        if isinstance(step, str):
            getattr(followed.kept, step)()
        else:
            kind, host, reported = step
            if kind != 'hold':
                followed.change(kind, host)
            elif host in followed.cloud.used:
                followed.hold(host)
            if reported:
                followed.report(kind, host)
    followed.compare_all()
    assert followed.kept.uncounted_snapshot() == followed.fresh()
    assert followed.kept.cached_snapshot() == followed.fresh()
    followed.change('use', 'h0')
    assert followed.kept.snapshot() == followed.fresh()


def test_a_plan_that_waited_uses_lists_that_were_read_after_its_request(
        followed):
    followed.now = 1.0
    followed.kept.cached_snapshot()
    followed.change('flavors', 'm1')
    followed.change('disabled', 'h0')
    followed.change('use', 'h1')
    followed.report('use', 'h1')
    with received_work.received(0.5):
        waited = followed.kept.cached_snapshot()
    assert 'm1' not in waited.flavors and waited.by_name()['h0'].enabled
    # Reported changes are always read.
    assert followed.used(waited)['h1'] == 1
    followed.now = 2.0
    with received_work.received(1.5):
        late = followed.kept.cached_snapshot()
    assert 'm1' in late.flavors and not late.by_name()['h0'].enabled
    followed.change('flavors', 'm2')
    assert 'm2' in followed.kept.cached_snapshot().flavors


@examples(100)
@given(st.lists(st.tuples(st.sampled_from(['use', 'free']),
                          st.sampled_from(HOSTS[:3])), max_size=8))
def test_what_is_reported_is_read_and_the_other_hosts_stay(changes):
    followed = Followed()
    for kind, host in changes:
        before = {each.name: each
                  for each in followed.kept.cached_snapshot().hosts}
        followed.change(kind, host)
        followed.report(kind, host)
        after = {each.name: each
                 for each in followed.kept.cached_snapshot().hosts}
        assert followed.used(
            followed.kept.cached_snapshot()) == followed.cloud.used
        assert all(after[name] is before[name]
                   for name in before if name != host)


def test_the_use_of_own_holds_is_known_without_a_reading(followed):
    followed.hold('h1', 3)
    followed.hold('h1', -1)
    assert followed.used(followed.kept.cached_snapshot()) == {'h0': 0, 'h1': 2,
                                                              'h2': 0}
    assert [host.servers
            for host in followed.kept.cached_snapshot().hosts] == [0, 2, 0]
    assert followed.reader.reread_uuids == []


@pytest.mark.parametrize('before', [False, True])
def test_a_reading_that_overlaps_an_own_hold_is_repeated(followed, before):
    """The read ends before or after the inventory learns of the hold. It may
    contain the hold or not."""
    assembly = followed.reader.assembly
    for contains in (False, True):
        number = assembly.begin()
        found = followed.cloud.provider('h1')

        def end():
            assembly.put(number, providers={
                'h1': followed.cloud.provider('h1') if contains else found})

        followed.hold('h1', meanwhile=end if before else lambda: None)
        if not before:
            end()
        assert followed.used(
            followed.kept.cached_snapshot()) == followed.cloud.used
    assert followed.reader.reread_uuids == ['h1', 'h1']


def test_a_recent_snapshot_has_reported_changes_and_lists_of_the_last_plan(
        followed):
    followed.kept.uncounted_snapshot()
    for kind, host in ('flavors', 'm1'), ('disabled', 'h0'), ('use', 'h1'):
        followed.change(kind, host)
    followed.kept.mark_hosts(['h1'])
    recent = followed.kept.recent_snapshot()
    assert followed.used(recent)['h1'] == 1
    assert 'm1' not in recent.flavors
    assert all(host.enabled for host in recent.hosts)
    # The comparison keeps the snapshot in use, and does not read flavors.
    for _ in range(2):
        followed.now += RECENT / 2
        followed.compare_all()
    assert 'm1' not in followed.kept.recent_snapshot().flavors
    followed.now += 1
    recent = followed.kept.recent_snapshot()
    assert 'm1' in recent.flavors
    assert not recent.by_name()['h0'].enabled


def test_a_plan_reads_flavors_and_disabled_hosts_at_the_same_time(
        followed, monkeypatch):
    followed.kept.cached_snapshot()
    both = threading.Barrier(2, timeout=10)
    reader = followed.reader

    def meet(read, *arguments):
        both.wait()
        return read(*arguments)

    monkeypatch.setattr(reader, '_all_flavors', partial(
        meet, reader._all_flavors))
    monkeypatch.setattr(reader._providers, 'with_trait', partial(
        meet, reader._providers.with_trait))
    followed.cloud.flavors.add('m1')
    followed.cloud.disabled.add('h0')
    found = followed.kept.cached_snapshot()
    assert 'm1' in found.flavors
    assert not found.by_name()['h0'].enabled


def test_a_plan_fails_if_flavors_cannot_be_read(followed, monkeypatch):
    def fail():
        raise ServiceFailed('nova', '/flavors/detail', 'away')

    followed.kept.cached_snapshot()
    monkeypatch.setattr(followed.reader, '_all_flavors', fail)
    with pytest.raises(ServiceFailed, match='away'):
        followed.kept.cached_snapshot()


def test_a_host_is_free_although_nova_reported_a_move_before_it_was(followed):
    """Nova sends resize_confirm.end, and then deletes the allocation on the
    source host."""
    reread = followed.reader.reread_uuids
    followed.change('use', 'h1')
    followed.compare_all()
    reread.clear()
    followed.kept.mark_hosts(['h1'])
    followed.kept.follow()
    followed.change('free', 'h1')
    followed.now += REPEAT_AFTER - 1
    followed.kept.follow()
    assert reread == ['h1']
    followed.now += 1
    followed.kept.follow()
    assert reread == ['h1', 'h1']
    assert followed.used(followed.kept.cached_snapshot())['h1'] == 0
    followed.kept.follow()
    assert reread == ['h1', 'h1']


def test_a_host_that_is_reported_twice_is_read_again_after_the_last_report(
        followed):
    for now in 0.0, 1.0:
        followed.now = now
        followed.kept.mark_hosts(['h1'])
        followed.kept.follow()
    followed.now = REPEAT_AFTER
    followed.kept.follow()
    assert followed.reader.reread_uuids == ['h1'] * 2
    followed.now = 1.0 + REPEAT_AFTER
    for _ in range(2):
        followed.kept.follow()
        assert followed.reader.reread_uuids == ['h1'] * 3


def test_overlapping_own_holds_need_no_reading(followed):
    followed.hold('h1', meanwhile=lambda: followed.hold('h1'))
    assert followed.used(followed.kept.cached_snapshot())['h1'] == 2
    assert followed.reader.reread_uuids == []


def test_plans_that_wait_for_the_first_snapshot_share_it():
    cloud = Cloud({host: 0 for host in HOSTS})
    inventory = MemoryInventory(cloud)
    reader = inventory.reader
    complete, begun, go_on = [], threading.Event(), threading.Event()

    def read_all(**options):
        complete.append(1)
        begun.set()
        assert go_on.wait(10)
        return MemoryReader.read_all(reader, **options)

    reader.read_all = read_all
    kept = CachedInventory(inventory, reader, INTERVAL)
    with futures.ThreadPoolExecutor(3) as pool:
        found = [pool.submit(kept.compare)]
        assert begun.wait(10)
        found += [pool.submit(kept.cached_snapshot) for _ in range(2)]
        go_on.set()
        for each in found:
            each.result()
    assert complete == [1]


def test_a_piece_has_its_share_of_the_providers(followed):
    followed.kept.compare()
    assert len(followed.reader.reread_uuids) == 2
    followed.kept.compare()
    assert sorted(followed.reader.reread_uuids) == ['h0', 'h1', 'h2']
    assert not followed.kept.is_comparing


def test_an_old_reading_does_not_replace_a_newer_one(followed):
    assembly = followed.reader.assembly
    old = assembly.begin()
    before = followed.cloud.provider('h1')
    followed.change('use', 'h1')
    followed.reader.read_providers(['h1'])
    assembly.put(old, providers={'h1': before, 'h2': None})
    assert followed.used(assembly.snapshot) == {'h0': 0, 'h1': 1}


def test_a_reading_that_fails_loses_no_mark(followed, monkeypatch):
    def fail(uuids):
        raise RuntimeError('away')

    followed.change('use', 'h1')
    followed.kept.mark_hosts(['h1'])
    with monkeypatch.context() as patch:
        patch.setattr(followed.reader, 'read_providers', fail)
        with pytest.raises(RuntimeError):
            followed.kept.cached_snapshot()
    assert followed.used(followed.kept.cached_snapshot())['h1'] == 1


def test_a_complete_snapshot_follows_distrust(followed):
    followed.change('use', 'h1')
    followed.kept.invalidate()
    assert followed.used(followed.kept.cached_snapshot())['h1'] == 1
    followed.change('use', 'h1')
    assert followed.used(followed.kept.cached_snapshot())['h1'] == 1


def test_comparisons_that_end_keep_the_snapshot_in_use(followed):
    for _ in range(9):
        followed.now += INTERVAL
        followed.compare_all()
        followed.change('use', 'h1')
        assert followed.used(followed.kept.cached_snapshot())['h1'] < (
            followed.cloud.used['h1'])


def test_without_comparisons_everything_is_read_again(followed):
    followed.change('use', 'h1')
    followed.now = 3 * INTERVAL + 1
    assert followed.used(followed.kept.cached_snapshot())['h1'] == 1


def test_a_mark_that_comes_during_a_reading_stays():
    marks = PendingReads()
    marks.add(['a', 'b'])
    number, found = marks.pending()
    marks.add(['b', 'c'])
    marks.remove(number)
    assert found == {'a', 'b'}
    assert marks.pending()[1] == {'b', 'c'}
