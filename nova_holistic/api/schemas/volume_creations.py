# SPDX-License-Identifier: Apache-2.0
"""Schemas of the creation of volumes by an engine."""

from nova_holistic.api.schemas import common
from nova_holistic.table.created_volumes import (
    CreatedVolumeState, CreationStatus)

OR_NULL = {'anyOf': [{
    **common.whole({
        'status': {'enum': [str(status) for status in CreationStatus]},
        'reasons': {'type': 'array', 'items': common.REASON},
        'updated_at': common.TIME_OR_NULL}),
    'title': 'The progress of an engine that creates the volumes.'},
    {'type': 'null'}]}

OF_VOLUME_OR_NULL = {'anyOf': [{
    **common.whole({
        'state': {'enum': [str(state) for state in CreatedVolumeState]},
        'volume_id': common.ANY_TEXT_OR_NULL,
        'tries': {'type': 'integer', 'minimum': 0},
        'fault': {'type': ['string', 'null']}}),
    'title': 'The creation of the volume by an engine.'},
    {'type': 'null'}]}
