# SPDX-License-Identifier: Apache-2.0
"""Observers of ``solve``: each of them gets the question and the answer of
every call, once, before the caller gets the answer.

An observer is passed to one call, or registered for all calls of the process
with ``observing``. An exception of an observer leaves ``solve`` in place of
the answer.
"""

from collections.abc import Iterator, Mapping
import contextlib
from dataclasses import dataclass
import threading
from typing import Protocol

from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot

Answer = Plan | Unplaceable | Unknown


@dataclass(frozen=True, slots=True)
class Question:
    """What one call of ``solve`` was asked.

    :ivar group: bound to the snapshot, so that flavors are resolved
    :ivar snapshot: as the caller passed it; it counts the members in
        ``placed`` and what they use
    :ivar placed: path to host name of the members that stay where they are
    :ivar objective: for that group
    """

    group: Group
    snapshot: Snapshot
    placed: Mapping[str, str]
    objective: Objective


class Observer(Protocol):
    """Whatever can be called with a question and the answer to it."""

    def __call__(self, question: Question, answer: Answer) -> None:
        """Threads may call it at once."""


_lock = threading.Lock()
_registered: tuple[Observer, ...] = ()


@contextlib.contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Register an observer of all calls that end inside the block, in any
    thread of the process."""
    global _registered
    with _lock:
        _registered = (*_registered, observer)
    try:
        yield
    finally:
        with _lock:
            last = max(number for number, each in enumerate(_registered)
                       if each is observer)
            _registered = (*_registered[:last], *_registered[last + 1:])


def report(question: Question, answer: Answer,
           observer: Observer | None = None) -> None:
    """Tell the registered observers, and this one, of an answer."""
    for each in _registered:
        each(question, answer)
    if observer is not None:
        observer(question, answer)
