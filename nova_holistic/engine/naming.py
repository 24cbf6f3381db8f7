# SPDX-License-Identifier: Apache-2.0
"""Which words of a reason are names in the topology of the cloud."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
import re

from nova_holistic.model.plan import Reason
from nova_holistic.model.snapshot import Host, Snapshot

_WORD = re.compile(r"[^\s,;:()'\"]+")


def named(reasons: Sequence[Reason], snapshot: Snapshot) -> tuple[Reason, ...]:
    """The same reasons, each knowing what it names of hosts and domains, so
    that it can be told to those who are not to know.

    A name of digits alone is taken for a number.
    """
    words = {word for reason in reasons
             for word in _WORD.findall(reason.message) if not word.isdecimal()}
    names = {name for host in snapshot.hosts for name in _names(host)
             if name in words}
    return tuple(
        replace(reason, names=tuple(sorted(
            names.intersection(_WORD.findall(reason.message)))))
        for reason in reasons)


def _names(host: Host) -> Iterator[str]:
    """A host's own, and those of all domains around it, short and whole."""
    yield host.name
    yield host.node
    path = (*host.location, host.name)
    yield from host.location
    yield from ('/'.join(path[:end]) for end in range(2, len(path) + 1))
    yield from host.labels.values()
