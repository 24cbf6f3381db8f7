# SPDX-License-Identifier: Apache-2.0
"""Immutable records of planned volumes, and the states of a volume."""

from dataclasses import dataclass
from datetime import datetime

from nova_holistic.model.members.volume import Volume
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.states import Machine, Transition

CLAIMABLE = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE,
             GroupStatus.DEGRADED)
"""Statuses of a group whose planned volumes can be created. The status of a
group depends on its servers only."""

WITHOUT_PLAN = (GroupStatus.RELEASED, GroupStatus.UNPLACEABLE,
                GroupStatus.ERROR)
"""Statuses of a group whose planned volumes are released."""

_P, _C, _B, _R, _L = (
    MemberState.PLANNED, MemberState.CLAIMED, MemberState.BUILT,
    MemberState.RELEASED, MemberState.LOST)

VOLUMES = Machine(_P, (
    Transition('claim', _P, _C,
               'The create of a volume with a pointer takes the place.'),
    Transition('build', _C, _B, 'The volume exists in Cinder.'),
    Transition('undo', _C, _P, 'The create fails, or no volume appears.'),
    Transition('undo', _B, _P, 'The volume is deleted.'),
    Transition('refuse', _C, _L, 'Cinder refuses the pool.'),
    Transition('return', _C, _R,
               'The create fails after a release of the volume.'),
    Transition('return', _B, _R,
               'The volume is deleted after its release, or after the '
               'lease.'),
    Transition('lose', _P, _L, 'The pool is gone.'),
    Transition('replan', _L, _P, 'The volume is planned in another pool.'),
    Transition('release', _P, _R, 'The user releases it, or the lease ends.'),
    Transition('release', _L, _R, 'The user releases it, or the lease ends.'),
))
"""The states of a volume are those of a member without ``failed``: Cinder
keeps no capacity for a volume whose create failed."""

NOT_CREATED = (_P, _C)
"""States of a volume whose capacity Cinder does not count yet."""

OCCUPYING = (_P, _C, _B)
"""States of a volume that uses capacity of its pool."""

WITH_VOLUME = (_C, _B)
"""States of a row that has the UUID of a volume."""

UNCLAIMED = (_P, _L)
"""States of a volume that is released with its group."""


@dataclass(frozen=True, slots=True)
class VolumeRecord:
    """One planned or existing volume of a group.

    Its lease is that of its group.

    :ivar id: number that the database assigns
    :ivar path: names from below the top-level group down to the volume
    :ivar description: path of its description; equal to ``path`` if the
        description has no count
    :ivar pool: name of the pool in Cinder, ``host@backend#pool``
    :ivar location: one name for each level above host, coarse to fine
    :ivar volume_uuid: UUID of the volume in Cinder; None unless the state is
        in ``WITH_VOLUME``
    :ivar generation: number that rises with each change of the row
    :ivar unwanted: whether the row is released when its volume is deleted
    :ivar created_at: naive UTC
    :ivar updated_at: naive UTC of the last change of the state
    """

    group_uuid: str
    path: str
    description: str
    volume: Volume
    pool: str
    location: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    state: MemberState = MemberState.PLANNED
    volume_uuid: str | None = None
    generation: int = 0
    unwanted: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None
    id: int = 0

    @classmethod
    def of_row(cls, row: VolumeRow) -> 'VolumeRecord':
        return cls(
            row.group_uuid, row.path, row.description,
            Volume(row.size_gb, row.volume_type), row.pool,
            tuple(row.location), tuple(sorted(row.labels.items())),
            MemberState(row.state), row.volume_uuid, row.generation,
            row.unwanted, row.created_at, row.updated_at, row.id)

    def values(self, position: int) -> dict[str, object]:
        """Column values of a new row. The database assigns the ID."""
        return {
            'group_uuid': self.group_uuid, 'position': position,
            'path': self.path, 'description': self.description,
            'size_gb': self.volume.size_gb,
            'volume_type': self.volume.volume_type, 'pool': self.pool,
            'location': list(self.location), 'labels': dict(self.labels),
            'state': str(self.state), 'volume_uuid': self.volume_uuid,
            'generation': self.generation, 'unwanted': self.unwanted,
            'created_at': self.created_at, 'updated_at': self.updated_at}


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    """A row that is assigned to a volume.

    :ivar repeated: whether the volume had the row before
    """

    row: VolumeRecord
    repeated: bool
