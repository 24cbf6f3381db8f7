# SPDX-License-Identifier: Apache-2.0
"""Engines that create servers and are killed, and the crash points of this
operation."""

from datetime import timedelta

from nova_holistic.table.boot_records import BootRequest
from tests.services.crash import operations as do
from tests.services.crash.created_servers import REFUSED, SERVER
from tests.services.crash.operations import nodes
from tests.services.crash.scenarios import BOTH, FREED, passes
from tests.unit.api.service import Service

ALL_BUILT = {'node-0': 'built', 'node-1': 'built'}
LATEST = {'OpenStack-API-Version': 'holistic latest'}


def _group_with_boot(world, rollback=False, **server):
    """A planned group whose servers an engine must create."""
    return world.planned(nodes(server={**SERVER, **server}),
                         boot=BootRequest('encrypted', rollback, 0))


def create_servers(parts, group):
    """An engine creates the servers of a group."""
    queue = parts.boot_queue(do._name())
    queue.do(queue.take(group))


def continue_servers(parts, group):
    """Another engine continues, an hour after the last heartbeat of the first
    one."""
    parts.skew += timedelta(seconds=do.HOUR)
    create_servers(parts, group)


@passes('boot.taken', 'boot.begun', 'boot.server-written',
        'boot.server-created', 'boot.status-written', 'boot.right-deleted',
        'boot.closed', states=ALL_BUILT)
def boot(world):
    group = _group_with_boot(world)
    return group, create_servers, group


@passes('boot.server-created:2', 'boot.server-written:2',
        'boot.server-written:3', 'boot.server-written:5', states=ALL_BUILT)
def boot_in_the_middle(world):
    group = _group_with_boot(world)
    return group, create_servers, group


@passes('boot.server-written', states=ALL_BUILT)
def boot_after_a_crash(world):
    group = _group_with_boot(world)
    world.dies('boot.server-created', create_servers, group)
    return group, continue_servers, group


@passes('boot.server-deleted', 'boot.group-released', 'boot.status-written:2',
        states=FREED)
def roll_back(world):
    group = _group_with_boot(world, True, metadata={REFUSED: 'nodes-node-1'})
    return group, create_servers, group


@passes('delete.boot-stopped', states=BOTH)
def delete_during_a_boot(world):
    group = _group_with_boot(world)
    return group, do.delete, group


def api_boot(parts, key):
    """A client creates a group and requests its servers."""
    service = Service(parts.table)
    service.user_rights = parts.created
    service.renew()
    answer = service.ask(
        'POST', '/v1/groups', {**nodes(server=SERVER), 'boot': {}},
        headers={'Idempotency-Key': key, **LATEST})
    assert answer.status_int == 202, answer.text


@passes('api.right-granted', again=True)
def ask_for_servers(world):
    return None, api_boot, 'key-1'
