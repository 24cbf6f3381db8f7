# SPDX-License-Identifier: Apache-2.0
"""Schemas of the creation of servers by an engine."""

from nova_holistic.api.schemas import common
from nova_holistic.table.boot_records import BootServerState, BootStatus

MAX_RETRIES = 100

REQUEST = {
    **common.strict({
        'rollback': {
            'type': 'boolean', 'default': False,
            'title': 'Whether all created servers are deleted and the group '
                     'is released if one of the servers cannot be created.'},
        'retries': {
            'type': 'integer', 'minimum': 0, 'maximum': MAX_RETRIES,
            'default': 0,
            'title': 'Number of further attempts for each server.'}}),
    'title': 'An engine creates the servers of all members, with the rights '
             'of the user.'}

SHOWN = {
    **common.whole({
        'status': {'enum': [str(status) for status in BootStatus]},
        'rollback': {'type': 'boolean'},
        'retries': {'type': 'integer', 'minimum': 0},
        'reasons': {'type': 'array', 'items': common.REASON},
        'updated_at': common.TIME_OR_NULL,
        'servers': {'type': 'array', 'items': common.whole({
            'member': common.ANY_TEXT,
            'state': {'enum': [str(state) for state in BootServerState]},
            'server_id': {'anyOf': [common.UUID, {'type': 'null'}]},
            'tries': {'type': 'integer', 'minimum': 0},
            'fault': {'type': ['string', 'null']}})}}),
    'title': 'The progress of an engine that creates the servers.'}
OR_NULL = {'anyOf': [SHOWN, {'type': 'null'}]}
