# SPDX-License-Identifier: Apache-2.0
"""Rows of the tables of volumes that an engine creates, as values."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
import enum


class CreationStatus(enum.StrEnum):
    """Status of the creation of the volumes of a group.

    COMPLETE: each volume exists, or does not have to be created any longer.
    FAILED: an attempt to create a volume has failed, and no further one
        follows.
    """

    CREATING = 'creating'
    COMPLETE = 'complete'
    FAILED = 'failed'


class CreatedVolumeState(enum.StrEnum):
    """State of a volume that an engine creates.

    CREATING: a create request is about to be sent, or was sent.
    DELETING: the volume is being deleted; another attempt may follow.
    FAILED: the last attempt has failed; no further attempt follows.
    KEPT: a user has used or changed the volume, so no engine deletes it.
    ENDED: there is no volume of an engine.
    """

    WAITING = 'waiting'
    CREATING = 'creating'
    AVAILABLE = 'available'
    DELETING = 'deleting'
    FAILED = 'failed'
    KEPT = 'kept'
    ENDED = 'ended'


UNFINISHED = (CreatedVolumeState.WAITING, CreatedVolumeState.CREATING,
              CreatedVolumeState.DELETING)
"""States in which an engine has more to do to create the volume."""

CLOSED = (CreatedVolumeState.KEPT, CreatedVolumeState.ENDED)
"""States of a volume that no engine deletes."""


@dataclass(frozen=True, slots=True)
class VolumeRequest:
    """The volumes of a new group that an engine creates.

    :ivar credential: encrypted credential with which engines act for the user
    :ivar paths: paths of the volumes
    """

    credential: str
    paths: Collection[str]
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class VolumeCreation:
    """The creation of the volumes of one group.

    :ivar credential: encrypted credential with which engines act for the user;
        None after the credential was deleted
    :ivar engine: the engine that works on it
    :ivar due_at: naive UTC from which an engine continues
    """

    group_uuid: str
    project_id: str
    user_id: str
    request_id: str | None
    status: CreationStatus
    credential: str | None
    engine: str | None
    due_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class CreatedVolume:
    """A volume that an engine creates.

    :ivar path: path of the member
    :ivar attempt: UUID in the metadata of the volume of the last attempt
    :ivar attempted_at: naive UTC of the last create request
    :ivar volume_uuid: the volume of the last attempt, once it is known
    :ivar seen_at: ``CinderVolume.last_change`` of the volume when it became
        available; a different value means that it was used or changed
    :ivar tries: number of attempts
    :ivar fault: reason why the last attempt failed
    :ivar refused_pools: pools that have failed to create the volume
    """

    path: str
    state: CreatedVolumeState = CreatedVolumeState.WAITING
    attempt: str | None = None
    attempted_at: datetime | None = None
    volume_uuid: str | None = None
    seen_at: str | None = None
    tries: int = 0
    fault: str | None = None
    refused_pools: tuple[str, ...] = ()
