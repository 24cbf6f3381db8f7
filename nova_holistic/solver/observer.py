# SPDX-License-Identifier: Apache-2.0
"""Observers of ``solve``. Each observer receives the question and the answer
of every call once, before ``solve`` returns the answer to the caller.

A caller passes an observer to one call, or registers it with ``observing`` for
all calls of the process. If an observer raises an exception, ``solve`` raises
this exception instead of returning the answer.
"""

from collections.abc import Callable, Iterator, Mapping
import contextlib
from dataclasses import dataclass
import threading
from typing import Protocol

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan, Unknown, Unplaceable

Answer = Plan | Unplaceable | Unknown


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of one call of ``solve``.

    If members use nested providers of hosts, the question is the equivalent
    problem in which the rows of ``trees.tree_rows`` are resource classes.

    :ivar group: the group, bound to the snapshot, with resolved flavors
    :ivar snapshot: the snapshot of the caller, which counts the members in
        ``placed`` and their usage
    :ivar placed: path to host name of the members that stay on their hosts
    :ivar objective: the objective for this group
    """

    group: Group
    snapshot: Snapshot
    placed: Mapping[str, str]
    objective: Objective


class Observer(Protocol):
    """Any object that can be called with a question and its answer."""

    def __call__(self, question: Question, answer: Answer) -> None:
        """Process one answer; several threads may call it concurrently."""


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


def notify_observers(question: Callable[[], Question], answer: Answer,
                     observer: Observer | None = None) -> None:
    """Call the registered observers and the given observer with an answer.

    :param question: returns the question; it is called only if there are
        observers, because large questions take time
    """
    observers = _registered if observer is None else (*_registered, observer)
    if observers:
        asked = question()
        for each in observers:
            each(asked, answer)
