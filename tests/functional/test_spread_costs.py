# SPDX-License-Identifier: Apache-2.0
"""The cost of a create in a group with ``spread``, in every state of the
group."""

import uuid

from nova import context as nova_context
from nova import objects
from oslo_db import exception as db_exception
from oslo_utils import timeutils

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.scheduler.hosts import cloud_version
from nova_holistic.table.records import MemberState
from tests.functional.call_counts import counted

SMALL = {'VCPU': 1, 'MEMORY_MB': 128, 'DISK_GB': 1}
NAMES = 'a', 'b', 'c'
GROUP = {
    'name': 'web',
    'policies': [{'type': 'spread', 'level': 'rack', 'max_skew': 1}],
    'members': [{'name': name, 'flavor': 'small'} for name in NAMES]}


def hosts(number):
    return [EmbeddedHost(f'cmp-{index}', zone='az1', rack=f'r{index % 5}',
                         vcpus=64)
            for index in range(number)]


def planned(cloud, group):
    """The other members do not change."""


def released(cloud, group):
    cloud.table.release([cloud.row(group, 'b').hold], timeutils.utcnow())


def lost(cloud, group):
    assert cloud.table.change_state(
        cloud.row(group, 'b').id, [MemberState.PLANNED], MemberState.LOST,
        timeutils.utcnow(), held=False)


def failed(cloud, group):
    row = cloud.table.claim(
        group, 'b', str(uuid.uuid4()), timeutils.utcnow())
    assert cloud.table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.FAILED,
        timeutils.utcnow())


def built_on_an_alternate(cloud, group):
    row = cloud.table.claim(
        group, 'b', str(uuid.uuid4()), timeutils.utcnow())
    admin = nova_context.get_admin_context()
    objects.InstanceMapping(
        admin, instance_uuid=row.instance_uuid, project_id=PROJECT,
        user_id=USER, cell_mapping=cloud.computes.cell).create()
    with nova_context.target_cell(admin, cloud.computes.cell) as context:
        objects.Instance(
            context, uuid=row.instance_uuid, project_id=PROJECT,
            user_id=USER, host='cmp-3', vm_state='active').create()
    assert cloud.table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.BUILT,
        timeutils.utcnow())


STATES = planned, released, lost, failed, built_on_an_alternate
MOST = {'planned': 38, 'released': 41, 'lost': 41, 'failed': 41,
        # Two more statements read the host of the server and its location.
        'built_on_an_alternate': 43}
"""Maximum number of statements of one create. More than half of them are
Placement's."""


def calls_of_one(cloud, happen):
    """Calls of the create of one member while another member is in a state."""
    group = cloud.plan(GROUP, {
        name: f'cmp-{number}' for number, name in enumerate(NAMES)},
        resources=SMALL)
    happen(cloud, group)
    instance = str(uuid.uuid4())
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'a'}, instance)
    with counted() as calls:
        answer = cloud.select_destinations(spec, [instance])[0]
    assert answer[0].service_host == 'cmp-0'
    assert len(answer) > 1
    return described(calls)


def described(calls):
    """The start of each statement with the number of its parameters, and the
    requests, without the read of the database's clock, which occurs once per
    minute."""
    return [(' '.join(each.text.split('(')[0].split()[:6]),
             len(each.parameters)) for each in calls.recorder.sent
            if 'strftime' not in each.text], calls.http


def test_a_create_costs_the_same_at_5_and_at_50_hosts(own_cloud):
    found = []
    first, others = hosts(5), hosts(50)[5:]
    with own_cloud(first) as cloud:
        cloud.create_flavor('small', 1, 128, 1)
        for more in (), others:
            if more:
                cloud.insert_hosts(more)
                cloud.hosts += tuple(more)
            # The scheduler reads all hosts once.
            calls_of_one(cloud, lost)
            found.append({happen.__name__: calls_of_one(cloud, happen)
                          for happen in STATES})
    few, many = found
    for name in few:
        assert few[name] == many[name], name
        statements, http = few[name]
        assert len(statements) <= MOST[name], name
        assert [request.split('/')[-1] for request in http] == [
            'allocations'], name


def test_a_create_compares_no_hosts_after_the_periodic_task_has_refreshed_them(
        own_cloud):
    with own_cloud(hosts(5), options={
            ('holistic', 'host_refresh_interval'): 10}) as cloud:
        cloud.create_flavor('small', 1, 128, 1)
        calls_of_one(cloud, lost)
        manager = cloud.controllers.scheduler.manager
        (task,) = [task for name, task in manager._periodic_tasks
                   if name == '_refresh_hosts']
        found = {}
        for happen in STATES:
            task(manager, nova_context.get_admin_context())
            found[happen.__name__] = len(calls_of_one(cloud, happen)[0])
        # Three statements read the cell of the built server, its host, and the
        # aggregates of this host with their metadata.
        assert found == {**dict.fromkeys(found, found['planned']),
                         'built_on_an_alternate': found['planned'] + 3}


def test_the_first_create_reads_no_hosts_after_the_first_refresh(own_cloud):
    """Only a cloud with a group that needs all hosts reads them before the
    first create."""
    with own_cloud(hosts(5), options={
            ('holistic', 'host_refresh_interval'): 10}) as cloud:
        cloud.create_flavor('small', 1, 128, 1)
        manager = cloud.controllers.scheduler.manager
        assert manager._periodic_last_run['_refresh_hosts'] is None
        with counted() as calls:
            manager._refresh_hosts(nova_context.get_admin_context())
        (statement,), http = described(calls)
        assert 'holistic_groups.uuid' in statement[0]
        assert http == []
        # Two more groups, as the scheduler first reads some other data.
        calls_of_one(cloud, planned)
        existing = cloud.planner.create(
            {'name': 'even', 'policies': GROUP['policies'], 'members': [
                {'name': 'a', 'resources': SMALL}]},
            project_id=PROJECT, user_id=USER)
        assert existing.status == 'planned'
        manager._refresh_hosts(nova_context.get_admin_context())
        first, second = (calls_of_one(cloud, lost) for _ in range(2))
        assert first == second


def test_a_refresh_survives_a_database_that_does_not_answer(
        own_cloud, monkeypatch, caplog):
    with own_cloud(hosts(5), options={
            ('holistic', 'host_refresh_interval'): 10}) as cloud:
        cloud.create_flavor('small', 1, 128, 1)
        calls_of_one(cloud, lost)
        manager = cloud.controllers.scheduler.manager

        def fail(*arguments):
            raise db_exception.DBConnectionError()

        monkeypatch.setattr(cloud_version, 'read', fail)
        manager._refresh_hosts(nova_context.get_admin_context())
        assert ("cannot be refreshed: Nova's database does not answer"
                in caplog.text)
        assert 'Traceback' not in caplog.text
        monkeypatch.undo()
        calls_of_one(cloud, lost)


def test_alternates_that_spread_forbids_are_replaced(lend_cloud):
    """The first alternates of the member are in the rack of another member."""
    with lend_cloud(sorted(
            hosts(8), key=lambda each: each.rack != 'r2')) as cloud:
        cloud.create_flavor('small', 1, 128, 1)
        group = cloud.plan(GROUP, {
            name: f'cmp-{number}' for number, name in enumerate(NAMES)},
            resources=SMALL)
        first, second, *_ = cloud.row(group, 'a').alternates
        assert [first.host, second.host] == ['cmp-2', 'cmp-7']
        # From here on, the plan does not show which hosts the policies allow.
        lost(cloud, group)
        instance = str(uuid.uuid4())
        planned_host, *others = cloud.select_destinations(
            cloud.request_spec('small', {'group': group, 'member': 'a'},
                               instance), [instance])[0]
        assert planned_host.service_host == 'cmp-0'
        assert len(others) == cloud.conf.scheduler.max_attempts - 1
        assert not {each.service_host for each in others} & {'cmp-2', 'cmp-7'}
