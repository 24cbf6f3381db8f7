# SPDX-License-Identifier: Apache-2.0
"""The last known state of each server in Nova."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

from nova_holistic.reconcile.instances import (
    DELETED, Instances, InstanceView, is_list_too_long)

MAX_AGE = timedelta(hours=1)
"""Time after which all stored states are discarded."""

OVERLAP = timedelta(minutes=5)
"""Time by which each query for changes overlaps the previous query. No change
is missed if the clocks of Nova and of the engine differ by less, and if Nova
writes changes with less delay."""


class ObservedServers:
    """A cache of the states of servers, which reads only changed servers from
    Nova.

    A stored state may be out of date by at most ``MAX_AGE`` if a change was
    missed. A stored state is sufficient to leave a member unchanged. Before a
    member is changed, its server is read again.
    """

    def __init__(self, instances: Instances, clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._instances = instances
        self._clock = clock
        self._views: dict[str, InstanceView] = {}
        self._changed: set[str] = set()
        self._forgot_at: datetime | None = None
        self._read_at: datetime | None = None

    def renew(self) -> None:
        """Read the servers that have changed since the previous call.

        :raises ServiceFailed: Nova does not respond; the stored states remain,
            and the next call reads the changes
        """
        now = self._clock()
        if self._forgot_at is None or not (
                timedelta() <= now - self._forgot_at < MAX_AGE):
            self._forget_all()
            self._forgot_at = now
        if self._views:
            self._follow(self._read_at - OVERLAP)
        self._read_at = now

    def forget(self, instance_uuids: Collection[str]) -> None:
        """Discard the states of servers that are no longer needed."""
        for uuid in instance_uuids:
            self._remember(uuid, None)

    def changed(self) -> set[str]:
        """UUIDs of the servers whose stored state has changed, or was
        discarded, since the previous call."""
        changed, self._changed = self._changed, set()
        return changed

    def last(self, instance_uuid: str) -> InstanceView | None:
        """The last known state of a server; None if no state is known."""
        return self._views.get(instance_uuid)

    def read(self, instance_uuids: Collection[str],
             project_id: str) -> Mapping[str, InstanceView | None]:
        """Read servers as ``Instances.find`` does, and store the results."""
        found = self._instances.find(instance_uuids, project_id)
        for uuid in instance_uuids:
            self._remember(uuid, found.get(uuid))
        return found

    def _follow(self, since: datetime) -> None:
        changed = self._instances.changed(since)
        if changed is None:
            self._forget_all()
            return
        for number, view in enumerate(changed, 1):
            if view.uuid in self._views:
                self._remember(view.uuid, view)
            if is_list_too_long(number, len(self._views)):
                self._forget_all()
                return

    def _remember(self, uuid: str, view: InstanceView | None) -> None:
        if view is None or view.status == DELETED:
            if self._views.pop(uuid, None) is not None:
                self._changed.add(uuid)
        elif self._views.get(uuid) != view:
            self._views[uuid] = view
            self._changed.add(uuid)

    def _forget_all(self) -> None:
        self._changed.update(self._views)
        self._views = {}
