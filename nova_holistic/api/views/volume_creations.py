# SPDX-License-Identifier: Apache-2.0
"""The creation of volumes by an engine, as clients see it."""

from collections.abc import Sequence
from typing import Any

from nova_holistic.api.views import common
from nova_holistic.table.created_volumes import (
    CreatedVolume, CreatedVolumeState, VolumeCreation)


_FAULTY = (CreatedVolumeState.FAILED, CreatedVolumeState.DELETING,
           CreatedVolumeState.AVAILABLE)
"""States of volumes whose fault is a reason of the creation."""


def creation(record: VolumeCreation | None,
             volumes: Sequence[CreatedVolume]) -> dict[str, Any] | None:
    """The creation of all volumes of a group."""
    if record is None:
        return None
    return {
        'status': str(record.status),
        'reasons': [
            {'at': each.path, 'message': each.fault or ''} for each in volumes
            if each.state in _FAULTY and each.fault],
        'updated_at': common.time(record.updated_at)}


def of_volume(volume: CreatedVolume | None) -> dict[str, Any] | None:
    """The creation of one volume."""
    return volume and {
        'state': str(volume.state), 'volume_id': volume.volume_uuid,
        'tries': volume.tries, 'fault': volume.fault}
