# SPDX-License-Identifier: Apache-2.0
"""The invariants of a chaos run.

This module uses no code of the project: the facts are rows of the databases.
"""

from collections.abc import Iterator, Mapping
from collections import Counter

from tests.chaos.final_state import FinalState
from tests.chaos.rules import broken_rules

HOLD = 'HOLISTIC_HOLD'
SETTLED = ('planned', 'building', 'complete', 'released', 'unplaceable',
           'degraded', 'error')
"""Final statuses of a group."""
WITH_REASONS = ('unplaceable', 'degraded', 'error')
"""Final statuses that need a reason."""
ACTIVE = ('planned', 'building', 'complete')
MEMBERS = ('planned', 'built', 'failed', 'released', 'lost')
"""Final states of a member."""
BROKEN_OFF = (
    'accepted', 'queued', 'preparing', 'pre-migrating', 'migrating',
    'post-migrating', 'running', 'finished', 'confirming', 'reverting',
    'error')
"""Statuses of an interrupted migration, if Nova is not working on its
server."""


def violations(facts: FinalState, rack_of: Mapping[str, str]) -> list[str]:
    """One sentence for each violation.

    :param rack_of: the rack of each host
    """
    return [*_two_servers(facts), *_servers_without_allocation(facts),
            *_holds(facts), *_consumers(facts), *_unsettled(facts),
            *broken_rules(facts, rack_of)]


def _two_servers(facts: FinalState) -> Iterator[str]:
    """No member has two servers: of all servers that were created for a
    member, at most one has allocations."""
    owners = Counter(pointer for uuid, pointer in facts.pointers.items()
                     if uuid in facts.servers and uuid in facts.allocations)
    for (group, member), count in owners.items():
        if count > 1 and group in facts.groups:
            yield f'{count} servers have room for {group} {member}'
    rows = Counter(row['instance_uuid'] for row in facts.members)
    for uuid, count in rows.items():
        if uuid is not None and count > 1:
            yield f'server {uuid} is {count} members'


def _servers_without_allocation(facts: FinalState) -> Iterator[str]:
    """Every server has the allocation of its flavor on its host.

    A server whose build failed, and that is in ERROR, may have none: Nova
    frees its allocation, sometimes before it clears the host. If the last
    ``save`` of ``ComputeManager._build_and_run_instance`` fails, Nova writes
    the time of the launch together with the failure.
    """
    for uuid, server in facts.servers.items():
        if server['vm_state'] == 'error' and (
                server['launched_at'] is None or server['host'] is None):
            continue
        if server['host'] is None:
            if server['vm_state'] != 'shelved_offloaded':
                yield f'server {uuid} is {server["vm_state"]} on no host'
            continue
        allocated = facts.allocations.get(uuid, {}).get(server['host'])
        requested = {'VCPU': server['vcpus'], 'MEMORY_MB': server['memory_mb'],
                     'DISK_GB': server['disk_gb']}
        if allocated != requested:
            yield (f'server {uuid} ({server["vm_state"]}) on '
                   f'{server["host"]} has {_shown(facts, uuid)}')


def _holds(facts: FinalState) -> Iterator[str]:
    """Each planned member has its hold, on its host and of its size, and each
    hold belongs to such a member."""
    row_of = {}
    for row in facts.members:
        if row['state'] == 'planned':
            row_of[row['hold']] = row
            amounts = {row['host']: Counter(row['requirements']['resources'])}
            if facts.allocations.get(row['hold']) != amounts:
                yield (f'planned member {row["group_uuid"]} {row["path"]} on '
                       f'{row["host"]} has {_shown(facts, row["hold"])}')
    for consumer, kind in facts.types.items():
        if kind == HOLD and consumer not in row_of:
            rows = [f'{row["state"]} {row["group_uuid"]} {row["path"]}'
                    for row in facts.members if row['hold'] == consumer]
            yield (f'hold {consumer} {_shown(facts, consumer)} has no planned '
                   f'member: {rows}')


def left_by_nova(facts: FinalState) -> list[str]:
    """Consumers with orphaned allocations that Nova has left.

    They are interrupted migrations, and servers without a pointer that were
    deleted while stock Nova scheduled them. "nova-manage placement audit"
    finds them. None of them is a hold or was the server of a member.
    """
    return [consumer for consumer, kind in facts.types.items()
            if kind != HOLD and consumer not in facts.servers
            and consumer not in facts.pointers]


def misallocated_by_nova(facts: FinalState) -> list[str]:
    """Servers whose move was interrupted because a process was killed, and
    that are in ERROR or have allocations on a host other than their own.

    Nova moves the allocation of the server to its migration, and allocates the
    destination for the server, before it sends a message to a host. It returns
    the allocations in ``MigrationTask.rollback`` and
    ``LiveMigrationTask.rollback`` of the conductor, or in nova-compute when
    the migration ends. If that process was killed, they are not returned: a
    restarted nova-compute only resets the task of the server
    (``ComputeManager._init_instance``). Nova's manual lets an operator find
    such servers with "nova-manage placement audit".
    """
    broken = {each['instance_uuid'] for each in facts.migrations.values()
              if each['status'] in BROKEN_OFF}
    moved = {each['instance_uuid'] for each in facts.migrations.values()}
    return [uuid for uuid, server in facts.servers.items()
            if uuid in moved and server['vm_state'] == 'error'
            or uuid in broken
            and {*facts.allocations.get(uuid, ())} != {server['host']}]


def unfinished_by_nova(server: Mapping[str, str | None]) -> bool:
    """Whether Nova has not finished a build, a change, a resize or a deletion
    of the server.

    ``ComputeManager._delete_instance`` sets the state to ``deleted`` and
    clears the task before it deletes the allocation and the record. If the
    database fails in between, Nova continues only when nova-compute is
    restarted (``ComputeManager._complete_partial_deletion``).

    :param server: a server that Nova has not deleted
    """
    return bool(server['task_state']) or server['vm_state'] in (
        'building', 'resized', 'deleted')


def _consumers(facts: FinalState) -> Iterator[str]:
    """All consumers are servers on their hosts, and holds."""
    forgotten = left_by_nova(facts)
    for consumer, hosts in facts.allocations.items():
        if facts.types[consumer] == HOLD or consumer in forgotten:
            continue
        server = facts.servers.get(consumer)
        if server is None:
            yield (f'consumer {consumer} {_shown(facts, consumer)} was the '
                   f'server of {facts.pointers[consumer]}, and is deleted')
        elif server['host'] is not None and set(hosts) != {server['host']}:
            yield (f'server {consumer} on {server["host"]} has '
                   f'{_shown(facts, consumer)}')


def _unsettled(facts: FinalState) -> Iterator[str]:
    """No group and no member stays in an intermediate state."""
    for uuid, group in facts.groups.items():
        if group['task'] or group['status'] not in SETTLED:
            yield (f'group {uuid} is {group["status"]} with task '
                   f'{group["task"]}: {group["reasons"]}')
        elif group['status'] in WITH_REASONS and not (
                group['reasons'] or group.get('violations')):
            yield f'group {uuid} is {group["status"]} without a reason'
    for row in facts.members:
        group = facts.groups.get(row['group_uuid'])
        at = f'{row["group_uuid"]} {row["path"]}'
        if group is None:
            yield f'member {at} has no group'
        elif row['state'] not in MEMBERS:
            yield (f'member {at} is {row["state"]}: server '
                   f'{facts.servers.get(row["instance_uuid"])}')
        elif row['state'] in ('built', 'failed') and (
                row['instance_uuid'] not in facts.servers
                and group['status'] in ACTIVE):
            yield f'member {at} is {row["state"]} and has no server'
        elif row['state'] == 'lost' and not group['reasons']:
            yield f'member {at} is lost, and its group gives no reason'


def _shown(facts: FinalState, consumer: str) -> dict:
    return {host: dict(amounts) for host, amounts
            in facts.allocations.get(consumer, {}).items()}
