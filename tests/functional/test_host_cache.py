# SPDX-License-Identifier: Apache-2.0
"""The scheduler's cache of all hosts equals the content of Nova's
databases."""

from datetime import timedelta

from nova import context as nova_context
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from oslo_utils import timeutils
import pytest
import sqlalchemy as sa

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.scheduler import connections
from nova_holistic.scheduler.hosts import host_cache
from nova_holistic.scheduler.hosts.host_cache import HostCache

HOSTS = [EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}')
         for number in range(4)]


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        yield cloud


class Known:
    """The hosts of a cloud in the cache of one scheduler."""

    def __init__(self, cloud):
        self.cloud = cloud
        self.now = 1000.0
        self._hosts = HostCache(lambda: self.now)

    def all(self, *traits, max_age=0.0):
        made = connections.get()
        return self._hosts.cloud(nova_context.get_admin_context(),
                                 made.topology, made.placement, traits,
                                 max_age)

    def refresh(self):
        made = connections.get()
        self._hosts.refresh(nova_context.get_admin_context(), made.topology,
                            made.placement)

    def enabled(self, max_age=0.0):
        return {name for name, host in self.all(max_age=max_age).hosts.items()
                if host.enabled}

    def in_cell(self, work):
        with nova_context.target_cell(nova_context.get_admin_context(),
                                      self.cloud.computes.cell) as context:
            main_database.pick_context_manager_writer(work)(context)

    def change_service(self, **values):
        self.in_cell(lambda context: context.session.execute(
            sa.update(models.Service).where(models.Service.host == 'cmp-1')
            .values(**values)))


@pytest.fixture
def known(running):
    found = Known(running)
    yield found
    found.change_service(disabled=False, forced_down=False,
                         last_seen_up=timeutils.utcnow())


def change_metadata(before, after, changed_at):
    @api_database.context_manager.writer
    def change(context):
        context.session.execute(
            sa.update(api_models.AggregateMetadata)
            .where(api_models.AggregateMetadata.value == before)
            .values(value=after, updated_at=changed_at))

    change(nova_context.get_admin_context())


def change_members(statement):
    @api_database.context_manager.writer
    def change(context):
        context.session.execute(statement)

    change(nova_context.get_admin_context())


def test_hosts_are_read_once_while_nothing_changes(known):
    first = known.all()
    assert set(first.hosts) == {host.name for host in HOSTS}
    assert known.all() is first
    # A report of a service that was up and is still up changes nothing.
    known.change_service(last_seen_up=timeutils.utcnow(), report_count=77)
    assert known.all() is first


@pytest.mark.parametrize('values', [
    {'disabled': True}, {'forced_down': True},
    {'last_seen_up': timeutils.utcnow() - timedelta(days=1000)},
    {'last_seen_up': timeutils.utcnow() + timedelta(days=1000)}])
def test_a_service_that_takes_no_servers_is_noticed(known, values):
    everywhere = known.enabled()
    assert 'cmp-1' in everywhere
    known.change_service(**values)
    assert known.enabled() == everywhere - {'cmp-1'}
    known.change_service(disabled=False, forced_down=False,
                         last_seen_up=timeutils.utcnow())
    assert known.enabled() == everywhere


def test_two_services_that_change_places_are_noticed(known):
    """The number of services that are up does not change."""
    def disable(names):
        known.in_cell(lambda context: context.session.execute(
            sa.update(models.Service)
            .where(models.Service.host.like('cmp-%'))
            .values(disabled=models.Service.host.in_(names))))

    for names in ['cmp-1', 'cmp-2'], ['cmp-0', 'cmp-3'], []:
        disable(names)
        assert known.enabled() == {h.name for h in HOSTS} - set(names)


def test_a_changed_rack_is_noticed(known):
    long_ago = timeutils.utcnow() - timedelta(hours=1)
    rack = known.all().hosts['cmp-2'].location
    change_metadata('r2', 'other', long_ago)
    try:
        assert known.all().hosts['cmp-2'].location == ('az1', 'other')
        assert known.all().snapshot.divided('rack').keys() == {
            Domain('rack', ('az1', name))
            for name in ('r0', 'r1', 'other', 'r3')}
    finally:
        change_metadata('other', 'r2', long_ago + timedelta(seconds=1))
    assert known.all().hosts['cmp-2'].location == rack


def test_two_changes_within_one_second_are_noticed(known):
    """Both changes have the same date."""
    now = timeutils.utcnow().replace(microsecond=0)
    change_metadata('r2', 'first', now)
    try:
        assert known.all().hosts['cmp-2'].location == ('az1', 'first')
        change_metadata('first', 'second', now)
        assert known.all().hosts['cmp-2'].location == ('az1', 'second')
    finally:
        for name in 'first', 'second':
            change_metadata(name, 'r2', now - timedelta(hours=1))


def test_a_host_that_changes_its_aggregate_is_noticed(known):
    held = api_models.AggregateHost
    known.all()

    def rack_of(name):
        return sa.select(api_models.AggregateMetadata.aggregate_id).where(
            api_models.AggregateMetadata.value == name).scalar_subquery()

    def move(before, after):
        change_members(sa.delete(held).where(
            held.host == 'cmp-0', held.aggregate_id == rack_of(before)))
        change_members(sa.insert(held).from_select(
            ['host', 'aggregate_id', 'created_at'], sa.select(
                sa.literal('cmp-0'), rack_of(after),
                sa.literal(timeutils.utcnow()))))

    move('r0', 'r1')
    try:
        assert known.all().hosts['cmp-0'].location == ('az1', 'r1')
    finally:
        move('r1', 'r0')
    assert known.all().hosts['cmp-0'].location == ('az1', 'r0')


def test_a_node_that_is_gone_is_noticed(known):
    def set_deleted(before, after):
        known.in_cell(lambda context: context.session.execute(
            sa.update(models.ComputeNode).where(
                models.ComputeNode.host == 'cmp-3',
                models.ComputeNode.deleted == before).values(deleted=after)))

    known.all()
    set_deleted(0, 4711)
    try:
        assert 'cmp-3' not in known.all().hosts
    finally:
        set_deleted(4711, 0)
    assert 'cmp-3' in known.all().hosts


def test_only_services_are_read_again_where_a_service_changed(
        known, monkeypatch):
    known.all()
    monkeypatch.setattr(host_cache, '_places', None)
    known.change_service(disabled=True)
    assert not known.all().hosts['cmp-1'].enabled


def test_traits_are_those_of_placement(known):
    found = known.all('COMPUTE_NODE', 'HW_CPU_X86_AVX2').hosts.values()
    assert {host.traits for host in found} == {frozenset({'COMPUTE_NODE'})}
    assert {host.traits for host in known.all().hosts.values()} == {
        frozenset()}


def test_hosts_are_not_compared_before_the_end_of_their_age(known):
    first = known.all(max_age=30)
    known.change_service(disabled=True)
    known.now += 29.9
    assert known.all(max_age=30) is first
    known.now += 0.1
    assert 'cmp-1' not in known.enabled(max_age=30)


def test_a_refresh_finds_changes_before_a_request_needs_them(
        known, monkeypatch):
    known.all('COMPUTE_NODE')
    known.change_service(disabled=True)
    known.now += 10
    known.refresh()
    # From here on, nothing can be read.
    monkeypatch.setattr(host_cache, 'cloud_version', None)
    monkeypatch.setattr(host_cache, '_cloud', None)
    known.now += 29.9
    found = known.all('COMPUTE_NODE', max_age=30)
    assert not found.hosts['cmp-1'].enabled
    assert found.hosts['cmp-2'].traits == {'COMPUTE_NODE'}


def test_a_refresh_reads_all_hosts_before_a_request_needs_them(
        known, monkeypatch):
    known.refresh()
    # From here on, nothing can be read.
    monkeypatch.setattr(host_cache, 'cloud_version', None)
    monkeypatch.setattr(host_cache, '_cloud', None)
    known.now += 29.9
    assert len(known.all(max_age=30).hosts) == len(HOSTS)


def test_hosts_that_did_not_change_stay_the_same_objects(known):
    before = known.all()
    known.change_service(disabled=True)
    after = known.all()
    assert {name for name in before.hosts
            if after.hosts[name] is not before.hosts[name]} == {'cmp-1'}
