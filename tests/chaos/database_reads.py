# SPDX-License-Identifier: Apache-2.0
"""The content of the cloud's databases, read with SQL only."""

from collections import Counter, defaultdict
import json

import pymysql
from pymysql import cursors

from tests.chaos.final_state import FinalState
from tools.cloud.layout import Layout
from tools.cloud.ports import ADDRESS

_GROUPS = 'SELECT uuid, name, status, task, reasons, violations, document ' \
          'FROM holistic.holistic_groups'
_MEMBERS = 'SELECT group_uuid, path, state, host, provider, hold, held, ' \
           'requirements, instance_uuid FROM holistic.holistic_members'
_ALLOCATIONS = """
SELECT a.consumer_id AS consumer, p.name AS host, r.name AS class, a.used,
       t.name AS type
FROM placement.allocations a
JOIN placement.resource_providers p ON p.id = a.resource_provider_id
JOIN placement.resource_classes r ON r.id = a.resource_class_id
LEFT JOIN placement.consumers c ON c.uuid = a.consumer_id
LEFT JOIN placement.consumer_types t ON t.id = c.consumer_type_id"""
_SERVERS = """
SELECT uuid, host, vm_state, task_state, launched_at, vcpus, memory_mb,
       root_gb + ephemeral_gb AS disk_gb
FROM nova_{}.instances WHERE deleted = 0"""
_BUILD_REQUESTS = """
SELECT instance_uuid AS uuid, NULL AS host, 'building' AS vm_state,
       'scheduling' AS task_state, NULL AS launched_at
FROM nova_api.build_requests"""
"""Servers that are not yet in a cell."""
_CELLS = ('cell0', 'cell1')
"""Names of Nova's cells."""
_MAPPINGS = """
SELECT m.instance_uuid, c.name AS cell
FROM nova_api.instance_mappings m
JOIN nova_api.cell_mappings c ON c.id = m.cell_id"""
_SPECS = 'SELECT instance_uuid, spec FROM nova_api.request_specs'
_MIGRATIONS = """
SELECT uuid, instance_uuid, status, source_compute, dest_compute
FROM nova_cell1.migrations ORDER BY id"""


def read(layout: Layout) -> FinalState:
    """The current rows of all databases.

    Nova's API knows a server that has a build request, or a record in the cell
    that its mapping names. Other records are left out: if a conductor fails
    between the record and the mapping, a request to delete the server deletes
    only the build request (``API._delete_while_booting`` in Nova), and no
    later request finds the record.

    :raises pymysql.Error: MariaDB does not respond
    """
    with pymysql.connect(
            host=ADDRESS, port=layout.ports['mariadb'], user='cloud',
            password=layout.password, charset='utf8mb4',
            cursorclass=cursors.DictCursor) as link, link.cursor() as cursor:
        def rows(statement: str) -> list[dict]:
            cursor.execute(statement)
            return list(cursor.fetchall())

        allocations, types = defaultdict(lambda: defaultdict(Counter)), {}
        for row in rows(_ALLOCATIONS):
            allocations[row['consumer']][row['host']][
                row['class']] += row['used']
            types[row['consumer']] = row['type']
        servers = {row['uuid']: row for row in rows(_BUILD_REQUESTS)}
        cells = {row['instance_uuid']: row['cell'] for row in rows(_MAPPINGS)}
        for cell in _CELLS:
            servers.update((row['uuid'], row)
                           for row in rows(_SERVERS.format(cell))
                           if cells.get(row['uuid']) == cell)
        pointers = {row['instance_uuid']: _pointer(json.loads(row['spec']))
                    for row in rows(_SPECS)}
        return FinalState(
            {row['uuid']: _decoded(row, 'reasons', 'violations', 'document')
             for row in rows(_GROUPS)},
            [_decoded(row, 'requirements') for row in rows(_MEMBERS)],
            allocations, types, servers,
            {uuid: pointer for uuid, pointer in pointers.items() if pointer},
            {row['uuid']: row for row in rows(_MIGRATIONS)})


def _decoded(row: dict, *names: str) -> dict:
    return row | {name: json.loads(row[name] or 'null') for name in names}


def _pointer(spec: dict) -> tuple[str, str] | None:
    """The group and the member in the hints of a request. Each value is a
    list."""
    hints = spec['nova_object.data'].get('scheduler_hints') or {}
    hint_values = [hints.get(name) for name in ('holistic_group',
                                                'holistic_member')]
    return (hint_values[0][0], hint_values[1][0]) if all(hint_values) else None
