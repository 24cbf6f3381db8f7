# SPDX-License-Identifier: Apache-2.0
"""A cache of groups, because a group is read for each of its servers."""

from collections.abc import Callable
from collections import OrderedDict
import threading
import time

from nova_holistic.table.database import Database
from nova_holistic.table.queries import cached_group
from nova_holistic.table.queries.cached_group import Found, Known, Read

REMEMBERED = 50_000
"""Maximum number of cached members of all groups. A member takes about a
kilobyte; other data are counted in this unit."""
MAX_IDLE_SECONDS = 600
"""Seconds after which a group that was not read again is removed, so that
deleted groups do not occupy memory."""
GROUP_WEIGHT = 4
"""Memory of a group in addition to its members and its document, in units of
members."""


class GroupCache:
    """A cache of groups with their members. If a group is cached, only the
    columns in ``LIGHT`` and ``group_state.CHANGING`` are read again, the
    latter only of members that have changed.

    The document of a group, and the order and the requirements of its members,
    change only with its ``version``. The place of a member changes only with
    its hold, or with its host when it is built. The resources of a built
    member also change when its server is resized. The cache then contains the
    resources that were read with the host. Threads may share an instance.
    """

    def __init__(self, database: Database, limit: int = REMEMBERED,
                 clock: Callable[[], float] = time.monotonic):
        """
        :param limit: maximum number of cached members: see ``REMEMBERED``
        :param clock: returns seconds since any point in time
        """
        self._database = database
        self._limit, self._clock = limit, clock
        self._known: OrderedDict[str, Known] = OrderedDict()
        # Memory of each group and of all groups, in units of members.
        self._weights: dict[str, int] = {}
        self._weight = 0
        self._read_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def read(self, group_uuid: str) -> Found | None:
        """A group and its members in the order of its document, both at one
        point in time; None if it does not exist.

        The members have no alternates and no times of change, and the group
        has no parameters of its task. This takes one query if the group is
        cached and was not revised or planned again.
        """
        return self.read_for(group_uuid, '').found

    def read_for(self, group_uuid: str, path: str) -> Read:
        """The group and its members, the alternates of the member at a path,
        and the state of all exclusive groups.

        If the group is not cached, or if more has changed than one statement
        reads, only the group and its members are read.
        """
        with self._lock:
            known = self._known.get(group_uuid)
        found, read = None, Read()
        if known is not None:
            with self._database.link() as link:
                found, read = cached_group.read_changes(link, known, path)
        if found is None:
            read = Read()
            with self._database.view() as session:
                if known is not None:
                    found, read = cached_group.read_changes(
                        session.connection(), known, path,
                        cached_group.MAX_REREAD_MEMBERS)
                if found is None:
                    found = cached_group.read_completely(session, group_uuid)
        self._remember(group_uuid, found)
        return read._replace(found=found and found.found)

    def _remember(self, group_uuid: str, found: Known | None) -> None:
        # A group without members is not cached.
        weight = _weight(found) if found and found.members else 0
        with self._lock:
            now = self._clock()
            self._forget(group_uuid)
            if weight:
                self._known[group_uuid] = found
                self._weights[group_uuid] = weight
                self._weight += weight
                self._read_at[group_uuid] = now
            while self._known:
                oldest = next(iter(self._known))
                if self._weight <= self._limit and (
                        self._read_at[oldest] >= now - MAX_IDLE_SECONDS):
                    break
                self._forget(oldest)

    def _forget(self, group_uuid: str) -> None:
        self._known.pop(group_uuid, None)
        self._read_at.pop(group_uuid, None)
        self._weight -= self._weights.pop(group_uuid, 0)


def _weight(known: Known) -> int:
    """The memory of a group in units of members."""
    return GROUP_WEIGHT + len(known.members) + known.text // 512
