# SPDX-License-Identifier: Apache-2.0
"""The facts about all children that this process knows."""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from datetime import datetime, timedelta
import threading
from typing import Any

from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.model.frozen import FrozenMapping

Reader = Callable[[], Facts]


class KnownFacts:
    """Facts from the file of children, and newer facts from the children.

    No request waits for facts: threads read them while the known facts are
    used.
    """

    def __init__(self, entries: Sequence[ChildEntry],
                 readers: Mapping[str, Reader], lifetime: float,
                 clock: Callable[[], datetime],
                 start: Callable[[Callable[[], Any]], None] | None = None):
        """
        :param readers: functions by the name of the child. Each returns the
            current facts, and never raises an error
        :param lifetime: seconds for which facts that were read are used; they
            are read again after half of this time
        :param clock: returns naive UTC
        :param start: starts a call; None: in another thread
        """
        self._written = {each.name: each.facts for each in entries
                         if each.facts is not None}
        self._readers = readers
        self._lifetime = timedelta(seconds=lifetime)
        self._clock = clock
        self._start = start or _in_thread
        self._read: dict[str, Facts] = {}
        self._begun: dict[str, datetime] = {}
        self._lock = threading.Lock()

    def all(self) -> Mapping[str, Facts]:
        """The facts by the name of the child, without children that have no
        facts."""
        found = dict(self._written)
        for name in self._readers:
            now = self._clock()
            self._refresh(name, now)
            read = self._read.get(name)
            if read is not None and read.read_at is not None and (
                    now - read.read_at <= self._lifetime):
                found[name] = _newer(self._written.get(name), read)
        return found

    def _refresh(self, name: str, now: datetime) -> None:
        """Begin to read the facts of a child, unless a reading has begun
        within half of the lifetime."""
        with self._lock:
            begun = self._begun.get(name)
            if begun is not None and now - begun < self._lifetime / 2:
                return
            self._begun[name] = now
        self._start(lambda: self._keep(name))

    def _keep(self, name: str) -> None:
        self._read[name] = self._readers[name]()


def _newer(written: Facts | None, read: Facts) -> Facts:
    """The facts that were read, with the facts of the operator in place of
    missing facts."""
    if written is None:
        return read
    values = {each.name: getattr(read, each.name)
              for each in dataclasses.fields(Facts)
              if getattr(read, each.name) is not None}
    values.pop('flavors')
    if written.largest is not None:
        # Only the operator knows all resource classes.
        values['largest'] = FrozenMapping(
            {**written.largest, **(read.largest or {})})
        values['all_classes'] = written.all_classes
    return dataclasses.replace(written, **values)


def _in_thread(work: Callable[[], Any]) -> None:
    threading.Thread(target=work, daemon=True, name='facts').start()
