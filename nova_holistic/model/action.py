# SPDX-License-Identifier: Apache-2.0
"""Actions after which a server matches the definition of its group again."""

from collections.abc import Mapping
from dataclasses import dataclass
import enum


class ActionKind(enum.StrEnum):
    """An operation of Nova on one server."""

    RESIZE = 'resize'
    MIGRATE = 'migrate'
    REBUILD = 'rebuild'
    NOTHING = 'nothing'


class ActionState(enum.StrEnum):
    """``blocked``: the action cannot be carried out; its reasons state why."""

    REQUIRED = 'required'
    BLOCKED = 'blocked'
    STARTED = 'started'
    DONE = 'done'
    FAILED = 'failed'


@dataclass(frozen=True, slots=True)
class Action:
    """The action that one server requires.

    :ivar member: path of the member
    :ivar from_host: name of the current host of the server
    :ivar to_host: name of the host of the server after the action; None if no
        host is planned
    :ivar from_flavor: flavor of the server; None if it is not known
    :ivar to_flavor: flavor after the action
    :ivar reasons: reasons why the action is required, and why it is blocked or
        has failed; each is {at, message}
    """

    member: str
    instance_uuid: str
    kind: ActionKind
    state: ActionState
    from_host: str
    to_host: str | None = None
    from_flavor: str | None = None
    to_flavor: str | None = None
    reasons: tuple[Mapping[str, object], ...] = ()
