# SPDX-License-Identifier: Apache-2.0
"""The operations of a process: functions of Parts."""

from dataclasses import replace
from datetime import timedelta
import itertools
from unittest import mock
import uuid

from nova import objects
from oslo_utils import timeutils

from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.holds.errors import CapacityUnavailable
from nova_holistic.holds.requests import Requests
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.scheduler.claim.claims import Claims
from nova_holistic.scheduler.claim.evacuation_capacity import (
    EvacuationCapacity)
from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler import group_moves
from nova_holistic.scheduler.manager import HolisticSchedulerManager
from nova_holistic.service.workers import Workers
from nova_holistic.table.changes.claim import SeenRows
from nova_holistic.table.changes import member_moves
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, PlanRecord, PlanStatus, Task)
from tests.services.crash.moving_servers import change_host
from tests.unit.api.service import Service
from tests.world.base import SMALL

LEASE = 7 * 24 * 3600
"""A lease in seconds that is longer than any scenario."""
HOUR = 3600
"""A time in seconds that is longer than all grace periods."""
PASSES = 2

_engines = itertools.count()

objects.register_all()


def nodes(count=2, vcpus=1, level='rack', **more):
    """A document of a group. If ``level`` is set, no two servers may be in one
    of its domains."""
    policies = [{'type': 'anti-affinity', 'level': level}] if level else []
    return {'group': {
        'name': 'nodes', 'policies': policies, 'members': [{
            'name': 'node', 'count': count,
            'resources': {**SMALL, 'VCPU': vcpus}, **more}]}}


def ask(parts, group, document=None, boot=None):
    """Write the rows that the API writes for a create request.

    :param boot: BootRequest, if an engine creates the servers
    """
    now = timeutils.utcnow()
    document = document or nodes()
    parts.table.create_group(GroupRecord(
        uuid=group, name=document['group']['name'], project_id='blue',
        user_id='ann', document=document, status=GroupStatus.PLANNING,
        objective='spread', created_at=now, updated_at=now,
        task=Task.PLANNING, pending={'lease': LEASE}), boot)


def ask_plan(parts, plan):
    """Write the row that the API writes for a dry run."""
    now = timeutils.utcnow()
    parts.table.plans.create(PlanRecord(
        plan, 'blue', 'ann', 'nodes', PlanStatus.PLANNING, nodes(), 'spread',
        created_at=now, updated_at=now))


# Operations of an engine.


def perform(parts, group):
    """An engine takes the task of a group and carries it out."""
    groups, _, _ = parts.queues(_name())
    record = groups.take(group)
    assert record is not None
    groups.do(record)


def take_over(parts, group):
    """Another engine takes the task, an hour after the last heartbeat of the
    first one."""
    parts.skew += timedelta(seconds=HOUR)
    perform(parts, group)


def give_up(parts, group):
    """An engine gives up a task after another engine was killed in it."""
    parts.conf.set_override('attempts', 1, group='engine')
    take_over(parts, group)


def dry_run(parts, plan):
    _, plans, _ = parts.queues(_name())
    plans.do(plans.take(plan))


def find_alternates(parts, group):
    """An engine searches alternates for a planned group."""
    _, _, alternates = parts.queues(_name())
    alternates.do(alternates.take(group))


def perform_too_late(parts, group):
    """Other servers take all hosts after the first snapshot."""
    def fill(number):
        if number == 1:
            for provider in parts.site.hosts.values():
                parts.placement.allocate(provider, {
                    'VCPU': parts.site.vcpus, 'MEMORY_MB': 512})

    parts.inventory.stale = fill
    perform(parts, group)


def perform_with_refused_part(parts, group):
    """Placement refuses the second request for holds once."""
    post, numbers = Requests.post, itertools.count(1)

    def refuse_second(requests, body):
        if next(numbers) == 2:
            raise CapacityUnavailable('there is no room')
        return post(requests, body)

    with mock.patch.object(Requests, 'post', refuse_second):
        perform(parts, group)


def perform_with_other_server(parts, group):
    """Another server takes the host of the second part of the holds."""
    post, numbers = Requests.post, itertools.count(1)

    def post_after_other_server(requests, body):
        if next(numbers) == 2:
            allocation, = body.values()
            for provider in allocation['allocations']:
                parts.placement.allocate(provider, {
                    'VCPU': parts.site.vcpus, 'MEMORY_MB': 512})
        return post(requests, body)

    with mock.patch.object(Requests, 'post', post_after_other_server):
        perform(parts, group)


def perform_without_success(parts, group):
    """An engine plans migrations that Nova refuses."""
    parts.instances.live_migrate = _refuse
    perform(parts, group)


def _refuse(instance, host):
    raise ServiceFailed('nova', '/servers', 'HTTP 409')


def perform_with_objection(parts, group):
    """Another group reserves a host after the holds are written."""
    objection = Reason.of('', format_message('host {:name} is closed', 'a1'))
    with mock.patch.object(SnapshotPlanner, 'objections',
                           return_value=[objection]):
        perform(parts, group)


def perform_during_release(parts, group):
    """The group is released after the new holds are written."""
    put = parts.holds.put

    def put_and_release(*arguments):
        put(*arguments)
        parts.lifecycle.release(group)

    parts.holds.put = put_and_release
    perform(parts, group)


def create(parts):
    """A caller without an engine plans a group."""
    parts.planner.create(nodes(), project_id='blue', user_id='ann',
                         lease=LEASE)


def release(parts, group):
    parts.lifecycle.release(group)


def expire(parts):
    parts.lifecycle.expire()


def delete(parts, group, revision=None):
    parts.lifecycle.delete(group, revision)


def reconcile(parts, passes=PASSES):
    """Several passes of the reconciler, one hour after the other."""
    for _ in range(passes):
        parts.reconciler.reconcile()
        parts.skew += timedelta(seconds=HOUR)


def periodically(parts, name):
    """An engine carries out a periodic task."""
    assert parts.periodic_tasks(_name()).attempt(name)


def reconcile_around_move(parts, server, host):
    """A pass examines a group, its server is moved to another host, and a
    second pass examines the group again."""
    parts.reconciler.reconcile()
    force(parts, server, host)
    reconcile(parts)


def reconcile_and_repair(parts, group):
    """A pass finds that a group is degraded, and an engine repairs it."""
    parts.reconciler.reconcile()
    assert parts.table.tasks.request(
        group, NewTask(
            Task.REPAIRING, {}, [GroupStatus.DEGRADED]), parts.clock())
    perform(parts, group)


def force(parts, server, host):
    """An administrator moves a server against the policies."""
    parts.instances.live_migrate(server, host)
    while parts.instances.move(server):
        parts.instances.get(server)


def stop(parts, group, plan):
    """An engine that has taken a group and a dry run is stopped."""
    queues = dict(zip(('group', 'plan'), parts.queues(_name())))
    assert queues['group'].take(group) and queues['plan'].take(plan)
    Workers(queues, 1).return_work()


def reconcile_later(parts):
    """Run passes of the reconciler after the grace periods."""
    parts.skew += timedelta(seconds=HOUR)
    reconcile(parts)


def recover(parts):
    """New engines repair the state that a killed process has left."""
    for _ in range(PASSES):
        parts.skew += timedelta(seconds=HOUR)
        for queue in (*parts.queues(_name()), parts.boot_queue(_name())):
            for waiting in queue.waiting(100):
                record = queue.take(waiting)
                if record is not None:
                    queue.do(record)
        for name in ('forget', 'reconcile'):
            periodically(parts, name)


# Operations of a scheduler, in the order of ``scheduler.lookup``.


def claim(parts, group, path, server):
    claims = _claims(parts)
    claims.swap(_take(parts, claims, group, path, server))
    claims.confirm()


def claim_elsewhere(parts, group, path, server):
    """The planned host is refused, and an alternate takes the server."""
    claims = _claims(parts)
    claims.swap(_moved(parts, claims, group, path, server))
    claims.confirm()


def claim_without_success(parts, group, path, server):
    """The claim is undone after the swap."""
    claims = _claims(parts)
    claims.swap(_take(parts, claims, group, path, server))
    assert claims.undo()


def claim_two_without_success(parts, group, servers):
    """The claims of two servers of one request are undone."""
    claims = _claims(parts)
    for row in [_take(parts, claims, group, f'node-{number}', server)
                for number, server in enumerate(servers)]:
        claims.swap(row)
    assert claims.undo()


def move_without_success(parts, group, path, server):
    """The claim of an alternate is undone after the swap."""
    claims = _claims(parts)
    claims.swap(_moved(parts, claims, group, path, server))
    assert claims.undo()


def refuse(parts, group, path, server):
    """No host accepts the server, and the member is lost."""
    claims = _claims(parts)
    row = _take(parts, claims, group, path, server)
    claims.give_up(row, [HostRefused(
        'is refused', row.place.host, 'AggregateInstanceExtraSpecsFilter')])
    assert claims.undo()


def free_capacity(parts, group):
    """The holds of a group are released for a server that is evacuated."""
    room = object.__new__(EvacuationCapacity)
    room._connections = _connections(parts)
    assert room._give_up(parts.table.members(group), 'server')


def record_built(parts, server):
    """The scheduler moves a server whose member is claimed."""
    mapping = mock.Mock(instance_uuid=server)
    mapping.cell_mapping.is_cell0.return_value = False
    launched = mock.Mock(launched_at='now')
    scheduler = 'nova_holistic.scheduler.manager.'
    mappings = 'objects.InstanceMappingList.get_by_instance_uuids'
    in_a_cell = mock.Mock(cell_id=1)
    with mock.patch(scheduler + 'connections.get',
                    return_value=_connections(parts)), \
            mock.patch(scheduler + 'nova_context.target_cell'), \
            mock.patch(scheduler + 'cells.of_servers',
                       return_value=[in_a_cell]), \
            mock.patch(scheduler + mappings, return_value=[mapping]), \
            mock.patch(scheduler + 'objects.InstanceList.get_by_filters',
                       return_value=[launched]):
        manager = object.__new__(HolisticSchedulerManager)
        assert manager._is_move(mock.MagicMock(), [server])


def send(parts, group, server, host, rival=None):
    """The scheduler moves a server, and Nova chooses the host.

    :param rival: UUID of another server of the group, which the scheduler has
        sent to the host in the meantime
    """
    rows = parts.table.members(group)
    own = next(row for row in rows if row.instance_uuid == server)
    membership = mock.Mock(record=mock.Mock(uuid=group), own=own, rows=rows)
    membership.evaluation.return_value.rules = [mock.Mock(hard=True)]

    def stock(spec_obj):
        if rival is None:
            return [{'host': host, 'nodename': host}]
        other = next(row for row in rows if row.instance_uuid == rival)
        sent_move = replace(other, destination=replace(own.place, host=host))
        member_moves.write_destination(
            parts.table.database, sent_move, rows, parts.clock())
        change_host(parts.placement, server, parts.site.hosts[host])
        return [{'host': host, 'nodename': host}]

    with mock.patch.object(group_moves.membership, 'find',
                           return_value=membership), \
            mock.patch.object(group_moves.membership, 'store_for_next_find'), \
            mock.patch.object(
                group_moves.locations, 'locate_hosts', return_value={
                    host: mock.Mock(location=(host[0],), labels={})}):
        group_moves.choose(_connections(parts), mock.Mock(), server, stock,
                           lambda: False)


def _claims(parts):
    return Claims(_connections(parts), 'blue', 'ann')


def _connections(parts):
    return Connections(
        parts.table, parts.holds, parts.placement.adapter, None, {},
        parts.clock)


def _take(parts, claims, group, path, server):
    return claims.take(group, path, server, SeenRows([
        row for row in parts.table.members(group)
        if row.member.path == path]))


def _moved(parts, claims, group, path, server):
    row = _take(parts, claims, group, path, server)
    moved = claims.move(row, parts.table.alternates([row.id])[row.id][0])
    assert claims.write(moved, parts.table.members(group))
    return moved


# Operations of the API.


def api_create(parts, key):
    """A client requests a group, with an idempotency key."""
    answer = Service(parts.table).ask(
        'POST', '/v1/groups', {'group': nodes()['group']},
        headers={'Idempotency-Key': key})
    assert answer.status_int == 202, answer.text


def api_plan(parts):
    answer = Service(parts.table).ask(
        'POST', '/v1/plans', {'group': nodes()['group']})
    assert answer.status_int == 202, answer.text


def api_update(parts, group):
    """A client adds a member to a group."""
    service = Service(parts.table)
    response = service.ask('GET', f'/v1/groups/{group}')
    answer = service.ask(
        'PUT', f'/v1/groups/{group}',
        {'group': nodes(count=3, level='host')['group']},
        headers={'If-Match': response.headers['ETag']})
    assert answer.status_int == 202, answer.text


def _name():
    return f'engine-{next(_engines)}-{uuid.uuid4().hex[:8]}'
