# SPDX-License-Identifier: Apache-2.0
"""The cost of a lookup does not depend on the size of the cloud."""

import re
import uuid

from nova import context as nova_context
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from nova.objects import service
import sqlalchemy as sa

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus
from tests.functional.call_counts import counted

SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
GROUP = {
    'name': 'web',
    'policies': [{'type': 'anti-affinity'}],
    'members': [{'name': name, 'flavor': 'small',
                 'availability_zone': 'az1'} for name in 'ab'],
}
# A spread policy depends on every host. The planner has checked it when it
# planned the group.
SPREAD = [{'type': 'spread', 'level': 'rack', 'max_skew': 1}]
PLAN = {'a': 'cmp-0', 'b': 'cmp-1'}
OURS = {'instance_mappings', 'host_mappings', 'compute_nodes', 'services',
        'instances', 'holistic_groups', 'holistic_members',
        'holistic_events'}
"""Tables of Nova and of the placement table that a lookup uses."""


def hosts(number):
    return [EmbeddedHost(f'cmp-{index}', zone='az1', rack=f'r{index % 5}')
            for index in range(number)]


def calls_of_each_member(cloud, policies):
    """Calls of both members' requests, one after the other."""
    group = cloud.plan({**GROUP, 'policies': policies}, PLAN,
                       resources=SMALL)
    for member, host in PLAN.items():
        instance = str(uuid.uuid4())
        spec = cloud.request_spec(
            'small', {'group': group, 'member': member}, instance)
        spec.availability_zone = 'az1'
        with counted() as calls:
            answer = cloud.select_destinations(spec, [instance])[0]
        assert [s.service_host for s in answer][:1] == [host]
        assert len(answer) == cloud.conf.scheduler.max_attempts
        yield calls


def test_a_lookup_costs_the_same_at_5_and_at_50_hosts(own_cloud):
    few, many = [], []
    first, others = hosts(5), hosts(50)[5:]
    with own_cloud(first) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        # Placement inserts a consumer type when a request first contains it.
        cloud.delete_consumer(cloud.add_consumer('cmp-4', {'VCPU': 1}))
        for found, more in (few, ()), (many, others):
            if more:
                cloud.insert_hosts(more)
                cloud.hosts += tuple(more)
            for policies in GROUP['policies'], SPREAD:
                found += calls_of_each_member(cloud, policies)
    # The statements are compared without their parameters.
    assert ([described(calls) for calls in few]
            == [described(calls) for calls in many])
    for calls in few:
        # More than half of the statements are Placement's, for one POST
        # /allocations.
        assert 0 < len(calls.sql) <= 35
        # The swap is the only request to Placement.
        assert [request.split('/')[-1] for request in calls.http] == [
            'allocations']


def tables_of_a_known_group(cloud, policies):
    """Table of each statement of the third create in a group."""
    group = cloud.plan({**GROUP, 'policies': policies, 'members': [
        {**GROUP['members'][0], 'name': name} for name in 'abc']},
        {**PLAN, 'c': 'cmp-2'}, resources=SMALL)
    for member in 'abc':
        instance = str(uuid.uuid4())
        spec = cloud.request_spec(
            'small', {'group': group, 'member': member}, instance)
        with counted() as calls:
            cloud.select_destinations(spec, [instance])
    return [re.search(r'(?:FROM|UPDATE|INTO) (\w+)', text).group(1)
            for text in calls.sql]


def test_a_lookup_in_a_known_group_makes_six_statements_of_its_own(
        lend_cloud):
    """The other statements are Placement's. No filter needs the servers of a
    host, so they are not read."""
    with lend_cloud(hosts(6)) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        tables = tables_of_a_known_group(cloud, GROUP['policies'])
    assert [table for table in tables if table in OURS] == [
        'holistic_groups', 'instance_mappings', 'holistic_members',
        'holistic_events', 'compute_nodes', 'holistic_members']
    assert len(tables) == 6 + 23


def test_a_lookup_reads_who_else_is_on_new_hosts_by_three_statements(
        lend_cloud):
    """The members of other groups, the cells of the hosts, and their
    servers."""
    with lend_cloud(hosts(6)) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        tables = tables_of_a_known_group(cloud, [{'type': 'exclusive'}])
    assert [table for table in tables if table in {
        *OURS, 'cell_mappings'}] == [
        'holistic_groups', 'instance_mappings', 'holistic_members',
        'holistic_events', 'compute_nodes',
        'holistic_members', 'host_mappings', 'instances', 'holistic_members']
    assert len(tables) == 6 + 3 + 23


def test_only_a_search_reads_the_version_of_every_cell(
        lend_cloud, monkeypatch):
    """Nova adds the trait of its providers if all services are new enough.
    The providers of a plan have it, so only a request in which Placement
    chooses a host depends on it."""
    asked = []
    version = service.get_minimum_version_all_cells
    monkeypatch.setattr(
        service, 'get_minimum_version_all_cells', lambda *args, **kwargs: (
            asked.append(args), version(*args, **kwargs))[1])
    with lend_cloud(hosts(3)) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        group = cloud.plan(GROUP, PLAN, resources=SMALL, alternates=0)
        for member, host, searched in ('a', 'cmp-0', False), (
                'b', 'cmp-2', True):
            if searched:
                cloud.disable_compute(PLAN[member])
            instance = str(uuid.uuid4())
            spec = cloud.request_spec(
                'small', {'group': group, 'member': member}, instance)
            asked.clear()
            with counted() as calls:
                answer = cloud.select_destinations(spec, [instance])[0]
            assert answer[0].service_host == host
            assert len(asked) == searched
            searches = [request for request in calls.http
                        if 'allocation_candidates' in request]
            assert len(searches) == searched
            assert all('OWNER_NOVA' in request for request in searches)


def described(calls):
    """The statements without parameters, and without the read of the
    database's clock, which occurs once per minute."""
    return [' '.join(statement.split('(')[0].split()[:6])
            for statement in calls.sql if 'strftime' not in statement]


def test_existing_servers_add_five_values_each_and_no_statement(lend_cloud):
    """One statement finds the cells of the servers that are read, and one in
    each cell their hosts. test_group_positions.py shows which are read."""
    names = [f'm{number}' for number in range(6)]
    document = {**GROUP, 'members': [
        {**GROUP['members'][0], 'name': name} for name in names]}
    with lend_cloud(hosts(8)) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        group = cloud.plan(document, {
            name: f'cmp-{number}' for number, name in enumerate(names)},
            resources=SMALL)
        found = []
        for existing, asked in (names[:1], 'm4'), (names[1:4], 'm5'):
            for name in existing:
                cloud.wait_for_status(cloud.create_server(
                    name, 'small', {'group': group, 'member': name}),
                    'ACTIVE')
            instance = str(uuid.uuid4())
            spec = cloud.request_spec(
                'small', {'group': group, 'member': asked}, instance)
            with counted() as calls:
                answer = cloud.select_destinations(spec, [instance])[0]
            assert answer[0].service_host == f'cmp-{asked[1:]}'
            assert {s.service_host for s in answer[1:]} <= {'cmp-6', 'cmp-7'}
            found.append(calls.sql)
        few, many = found
        # The cell is new for the group at the first answer.
        assert len(few) == len(many) + 1
        for statements in found:
            where, = (each for each in statements
                      if 'FROM instances' in each and 'uuid IN' in each)
            columns, _, _ = where.rpartition('FROM')
            columns = columns.rpartition('SELECT')[2]
            assert columns.count('instances.') == 5


def test_changed_levels_cost_one_statement(lend_cloud):
    """This holds for any number of members: one statement reads the current
    locations of all of them."""
    found = []
    with lend_cloud(hosts(8)) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        for number in 2, 6:
            names = [f'm{at}' for at in range(number)]
            group = cloud.plan({**GROUP, 'members': [
                {**GROUP['members'][0], 'name': name} for name in names]}, {
                    name: f'cmp-{at}' for at, name in enumerate(names)},
                resources=SMALL)
            cloud.table.update_group(
                group, [GroupStatus.PLANNED], levels=('row', 'host'))
            instance = str(uuid.uuid4())
            spec = cloud.request_spec(
                'small', {'group': group, 'member': 'm0'}, instance)
            with counted() as calls:
                answer = cloud.select_destinations(spec, [instance])[0]
            assert answer[0].service_host == 'cmp-0'
            found.append([each for each in calls.sql if 'aggregate' in each])
    few, many = found
    assert len(few) == len(many) == 1


def test_no_numa_topology_is_read_for_a_plain_request(
        lend_cloud, monkeypatch):
    """Nova parses the data of each host, which takes a millisecond."""
    def change(values):
        @main_database.pick_context_manager_writer
        def change(context):
            context.session.execute(
                sa.update(models.ComputeNode).values(numa_topology=values))

        with nova_context.target_cell(nova_context.get_admin_context(),
                                      cloud.computes.cell) as context:
            change(context)

    with lend_cloud(hosts(4)) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        group = cloud.plan(GROUP, PLAN, resources=SMALL)
        change(objects.NUMATopology(cells=[])._to_json())
        monkeypatch.setattr(objects.NUMATopology, 'obj_from_db_obj', None)
        try:
            instance = str(uuid.uuid4())
            spec = cloud.request_spec(
                'small', {'group': group, 'member': 'a'}, instance)
            answer = cloud.select_destinations(spec, [instance])[0]
        finally:
            change(None)
        assert [each.service_host for each in answer] == [
            'cmp-0', 'cmp-2', 'cmp-3']
