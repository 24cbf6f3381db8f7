# SPDX-License-Identifier: Apache-2.0
"""Volumes in the database of Cinder."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from cinder import objects

from nova_holistic.table.batches import batches

ERROR = 'error'
USABLE = ('available', 'in-use')
"""Statuses of a volume that exists in its pool."""


@dataclass(frozen=True, slots=True)
class CinderVolume:
    """A volume that is not deleted.

    :ivar pool: its pool; None if no pool is selected
    :ivar completed_at: naive UTC at which its create succeeded, or since
        which the volume is certain to exist; None before that
    """

    status: str
    pool: str | None
    completed_at: datetime | None

    @property
    def has_failed(self) -> bool:
        """Whether its create has failed."""
        return self.status == ERROR and self.completed_at is None


def read(context, uuids: Collection[str]) -> Mapping[str, CinderVolume]:
    """The volumes with these UUIDs that exist, by UUID.

    :param context: Cinder's context of an administrator
    """
    found = {}
    for batch in batches(sorted(uuids)):
        for volume in objects.VolumeList.get_all(
                context, filters={'id': list(batch)}):
            completed = volume.launched_at
            if completed is None and volume.status in USABLE:
                # An administrator has set the status of a volume whose service
                # did not complete it.
                completed = volume.updated_at
            found[volume.id] = CinderVolume(
                volume.status, volume.cluster_name or volume.host,
                completed and completed.replace(tzinfo=None))
    return found
