# SPDX-License-Identifier: Apache-2.0
"""The validated arguments of each method of the RPC API.

A payload rejects unknown keys, values of another type and values that are too
large, and names them; both the sender and the receiver check it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, MISSING
import math
import re
from typing import Any, Self
import uuid

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping

MAX_SECONDS = 10 * 366 * 24 * 3600
"""Maximum lease that a user may request."""
MAX_MEMBERS = 10_000
MAX_PATH = 700
MAX_HOST = 255
MAX_HOSTS = 1000
MAX_ENGINE = 300
MAX_STATISTICS = 64
STATISTIC_NAME = re.compile(r'[A-Za-z0-9_.-]{1,255}')


@dataclass(frozen=True, slots=True)
class Payload:
    """Arguments of one RPC method.

    :raises InvalidDocument: an argument is invalid; the place is its name
    """

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """:raises InvalidDocument: an argument is unknown, missing or
            invalid"""
        names = [field.name for field in fields(cls)]
        for name in document:
            if name not in names:
                raise InvalidDocument(str(name)[:80], 'is unknown')
        for field in fields(cls):
            if field.name not in document and field.default is MISSING:
                raise InvalidDocument(field.name, 'is missing')
        return cls(**document)

    def to_document(self) -> dict[str, Any]:
        """Plain data that JSON can represent, without arguments that have
        their default values: an earlier version may not know them."""
        return {field.name: _plain(value) for field in fields(self)
                if (value := getattr(self, field.name)) != field.default}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True)
class GroupPayload(Payload):
    """A group that is planned or repaired, depending on the method."""

    group_uuid: str

    def __post_init__(self) -> None:
        _uuid('group_uuid', self.group_uuid)


@dataclass(frozen=True, slots=True)
class Delete(Payload):
    """
    :ivar revision: required revision of the group; None means any
    """

    group_uuid: str
    revision: int | None = None

    def __post_init__(self) -> None:
        _uuid('group_uuid', self.group_uuid)
        _revision(self.revision)


@dataclass(frozen=True, slots=True)
class PlanPayload(Payload):
    """A plan without holds."""

    plan_uuid: str

    def __post_init__(self) -> None:
        _uuid('plan_uuid', self.plan_uuid)


@dataclass(frozen=True, slots=True)
class Release(Payload):
    """
    :ivar members: paths; None means all members
    :ivar revision: required revision of the group; None means any
    """

    group_uuid: str
    members: tuple[str, ...] | None
    revision: int | None = None

    def __post_init__(self) -> None:
        _uuid('group_uuid', self.group_uuid)
        _revision(self.revision)
        if self.members is None:
            return
        if not isinstance(self.members, list | tuple):
            raise InvalidDocument('members', 'must be a list of paths')
        if len(self.members) > MAX_MEMBERS:
            raise InvalidDocument(
                'members', f'must be at most {MAX_MEMBERS} paths')
        for i, path in enumerate(self.members):
            _text(f'members[{i}]', path, MAX_PATH)
        object.__setattr__(self, 'members', tuple(self.members))


@dataclass(frozen=True, slots=True)
class Extend(Payload):
    """
    :ivar seconds: from now until the lease ends
    :ivar revision: required revision of the group; None means any
    """

    group_uuid: str
    seconds: int
    revision: int | None = None

    def __post_init__(self) -> None:
        _uuid('group_uuid', self.group_uuid)
        _revision(self.revision)
        if type(self.seconds) is not int:
            raise InvalidDocument('seconds', 'must be a whole number')
        if not 1 <= self.seconds <= MAX_SECONDS:
            raise InvalidDocument(
                'seconds', f'must be from 1 to {MAX_SECONDS}')


@dataclass(frozen=True, slots=True)
class Bind(Payload):
    """
    :ivar path: path of a member or of a nested group; empty means the whole
        group
    :ivar server_group: UUID of a server group of Nova
    """

    group_uuid: str
    path: str
    server_group: str

    def __post_init__(self) -> None:
        _uuid('group_uuid', self.group_uuid)
        if self.path != '':
            _text('path', self.path, MAX_PATH)
        _uuid('server_group', self.server_group)


@dataclass(frozen=True, slots=True)
class HostStatistics(Payload):
    """Statistics that were measured on a host.

    :ivar name: of the host, as Nova and the inventory know it
    :ivar stats: name to a finite number
    """

    name: str
    stats: Mapping[str, float]

    def __post_init__(self) -> None:
        _text('name', self.name, MAX_HOST)
        if not isinstance(self.stats, Mapping):
            raise InvalidDocument('stats', 'must map names to numbers')
        if not 1 <= len(self.stats) <= MAX_STATISTICS:
            raise InvalidDocument(
                'stats', f'must be 1 to {MAX_STATISTICS} statistics, not '
                f'{len(self.stats)}')
        object.__setattr__(self, 'stats', FrozenMapping({
            name: _number(name, value)
            for name, value in self.stats.items()}))


@dataclass(frozen=True, slots=True)
class CloudChanges(Payload):
    """Changes that notifications of Nova have reported to an engine.

    :ivar engine: the id of that engine
    :ivar hosts: names of compute hosts whose use may have changed
    :ivar nova: whether a compute service or an aggregate has changed
    """

    engine: str
    hosts: tuple[str, ...]
    nova: bool

    def __post_init__(self) -> None:
        _text('engine', self.engine, MAX_ENGINE)
        if not isinstance(self.hosts, list | tuple):
            raise InvalidDocument('hosts', 'must be a list of names')
        if len(self.hosts) > MAX_HOSTS:
            raise InvalidDocument('hosts', f'must be at most {MAX_HOSTS}')
        for i, name in enumerate(self.hosts):
            _text(f'hosts[{i}]', name, MAX_HOST)
        if not isinstance(self.nova, bool):
            raise InvalidDocument('nova', 'must be true or false')
        object.__setattr__(self, 'hosts', tuple(self.hosts))


def _number(name: Any, value: Any) -> float:
    if not isinstance(name, str) or not STATISTIC_NAME.fullmatch(name):
        raise InvalidDocument(
            'stats', f'{str(name)[:80]!r} is not a valid name: 1 to 255 '
            'letters, digits and _ . -')
    place = f'stats.{name}'
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidDocument(place, 'must be a number')
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidDocument(place, 'must be a finite number')
    return number


def _revision(value: Any) -> None:
    if value is not None and (type(value) is not int or value < 0):
        raise InvalidDocument('revision', 'must be a whole number, at least 0')


def _uuid(place: str, value: Any) -> None:
    """A UUID as the table has it: lower case, with hyphens."""
    try:
        good = isinstance(value, str) and str(uuid.UUID(value)) == value
    except ValueError:
        good = False
    if not good:
        raise InvalidDocument(place, 'must be a UUID')


def _text(place: str, value: Any, longest: int) -> None:
    if not isinstance(value, str) or not 1 <= len(value) <= longest:
        raise InvalidDocument(
            place, f'must be text of 1 to {longest} characters')
    if any(c < ' ' or c == '\x7f' or '\ud800' <= c <= '\udfff'
           for c in value):
        raise InvalidDocument(place, 'must have no control characters')
