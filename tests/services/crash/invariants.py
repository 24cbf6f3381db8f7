# SPDX-License-Identifier: Apache-2.0
"""The invariants after a crash and the recovery from it.

This module uses no code of the project: it reads rows with SQL, and Placement
through its API.
"""

from collections import Counter
import json

import sqlalchemy as sa

HOLD = 'HOLISTIC_HOLD'
STATUSES = {frozenset(['planned']): 'planned',
            frozenset(['planned', 'built']): 'building',
            frozenset(['built']): 'complete'}
"""The status of a group by the states of its members."""


def violations(site, placement):
    """One sentence for each violation.

    :param site: Site
    :param placement: PlacementCalls
    """
    groups, members = _rows(site.table_url)
    allocated = {host: {consumer: each['resources'] for consumer, each
                        in placement.consumers(provider).items()} for host,
                 provider in site.hosts.items()}
    allocations = {consumer: placement.allocation(consumer)
                   for consumers in allocated.values()
                   for consumer in consumers}
    kinds = {consumer: each['consumer_type']
             for consumer, each in allocations.items()}
    used = {host: placement.used(provider)
            for host, provider in site.hosts.items()}
    other_servers = {consumer for consumer, each in allocations.items()
                     if each['project_id'] == 'other-project'}
    return [*_two_servers(members, kinds, other_servers),
            *_servers(site, allocated),
            *_holds(members, allocated, kinds),
            *_usages(site, members, allocated, used, other_servers),
            *_unsettled(groups, members),
            *_unfinished(site.table_url)]


def _rows(url):
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        rows = [[row._asdict() for row in connection.execute(
            sa.text(f'SELECT * FROM {name}'))]  # nosec
            for name in ('holistic_groups', 'holistic_members')]
    engine.dispose()
    return rows


def _two_servers(members, kinds, other_servers):
    """No member has two servers, and no server belongs to two members."""
    owners = Counter(row['instance_uuid'] for row in members)
    for server, count in owners.items():
        if server is not None and count > 1:
            yield f'server {server} is {count} members'
    for consumer in kinds.keys() - other_servers - owners.keys():
        if kinds[consumer] != HOLD:
            yield f'server {consumer} has room and is no member'


def _servers(site, allocated):
    """Every server has its allocation."""
    for server in site.servers:
        if server.host is None:
            continue
        at = [host for host, consumers in allocated.items()
              if server.uuid in consumers]
        if at != [server.host]:
            yield f'server {server.uuid} on {server.host} has room on {at}'


def _holds(members, allocated, kinds):
    """Every hold belongs to a planned row, and every planned row has its
    hold."""
    rows = {row['hold']: row for row in members if row['state'] == 'planned'}
    for row in rows.values():
        if allocated[row['host']].get(row['hold']) != _resources(row):
            yield f'planned member {row["path"]} has no hold on {row["host"]}'
        if not row['held']:
            yield f'planned member {row["path"]} is not held'
    for consumer, kind in kinds.items():
        if kind == HOLD and consumer not in rows:
            yield f'hold {consumer} has no planned row'
    for row in members:
        if row['held'] and row['state'] != 'planned':
            yield f'member {row["path"]} is {row["state"]} and held'


def _usages(site, members, allocated, used, other_servers):
    """The usages equal those of existing servers, holds and other servers."""
    for host, amounts in used.items():
        expected = Counter()
        for row in members:
            on_host = row['host'] == host
            if on_host and (row['state'] == 'planned' or any(
                    server.uuid == row['instance_uuid'] and server.host
                    for server in site.servers)):
                expected.update(_resources(row))
        for consumer in other_servers & allocated[host].keys():
            expected.update(allocated[host][consumer])
        if expected != Counter(amounts):
            yield f'{amounts} is used on {host}, and not {dict(expected)}'


def _unsettled(groups, members):
    """No group has a task, and no member is in an intermediate state."""
    uuids = {row['uuid'] for row in groups}
    for row in groups:
        if row['task'] or row['status'] == 'planning':
            yield f'group {row["uuid"]} is {row["status"]}, to {row["task"]}'
    for group in groups:
        states = {row['state'] for row in members
                  if row['group_uuid'] == group['uuid']}
        expected = STATUSES.get(frozenset(states), group['status'])
        if group['status'] != expected:
            yield f'group {group["uuid"]} is {group["status"]}: {states}'
    for row in members:
        if row['group_uuid'] not in uuids:
            yield f'member {row["path"]} has no group'
        if row['state'] == 'claimed':
            yield f'member {row["path"]} is claimed'


def _unfinished(url):
    """No periodic task belongs to an engine that was killed."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        for name, owner in connection.execute(sa.text(
                'SELECT name, engine FROM holistic_jobs')):
            if owner is not None:
                yield f'periodic task {name} belongs to {owner}'
    engine.dispose()


def _resources(row):
    requirements = row['requirements']
    if isinstance(requirements, str):
        requirements = json.loads(requirements)
    return requirements['resources']
