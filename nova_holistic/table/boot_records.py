# SPDX-License-Identifier: Apache-2.0
"""Rows of the tables of boots, as values.

A *boot* is the creation of the servers of a group by an engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
import enum


class BootStatus(enum.StrEnum):
    """Status of a boot.

    WAITING: no engine has begun.
    STOPPED: the group is being deleted.
    """

    WAITING = 'waiting'
    CREATING = 'creating'
    ROLLING_BACK = 'rolling-back'
    COMPLETE = 'complete'
    FAILED = 'failed'
    ROLLED_BACK = 'rolled-back'
    STOPPED = 'stopped'


ENDED = (BootStatus.COMPLETE, BootStatus.FAILED, BootStatus.ROLLED_BACK,
         BootStatus.STOPPED)
"""Statuses of a boot for which engines no longer create or delete servers.
"""


class BootServerState(enum.StrEnum):
    """State of a server of a boot.

    CREATING: a create request is about to be sent, or was sent.
    FAILED: the last attempt has failed; no further attempt follows.
    DELETED: the server was created, and was deleted by a rollback.
    """

    WAITING = 'waiting'
    CREATING = 'creating'
    ACTIVE = 'active'
    FAILED = 'failed'
    DELETED = 'deleted'


@dataclass(frozen=True, slots=True)
class BootRequest:
    """The parameters of a boot.

    :ivar credential: encrypted credential with which engines act for the user
    :ivar rollback: whether a failure deletes all servers that were created
    :ivar retries: number of additional attempts for each server after a failed
        one
    """

    credential: str
    rollback: bool
    retries: int
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class BootRecord:
    """A boot.

    :ivar credential: encrypted credential with which engines act for the user;
        None after the credential was deleted
    :ivar reasons: reasons why the boot failed, each {at, message}
    :ivar stopping: whether no more servers may be created
    :ivar open: whether the boot has not ended, or its credential exists
    :ivar engine: the engine that works on the boot
    :ivar attempts: number of engines that have taken the boot, without those
        that returned it without an unexpected error
    """

    group_uuid: str
    project_id: str
    user_id: str
    request_id: str | None
    status: BootStatus
    rollback: bool
    retries: int
    credential: str | None
    reasons: tuple[Mapping[str, str], ...]
    stopping: bool
    open: bool
    engine: str | None
    attempts: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class BootServer:
    """A server of a boot.

    :ivar path: path of the member
    :ivar server_uuid: the server of the last attempt, once Nova has accepted
        the create request
    :ivar tries: number of create requests
    :ivar fault: reason why the last attempt failed
    """

    path: str
    state: BootServerState
    server_uuid: str | None = None
    tries: int = 0
    fault: str | None = None
