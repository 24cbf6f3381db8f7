# SPDX-License-Identifier: Apache-2.0
"""Undoes parts of a group in its children."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from oslo_log import log as logging

from nova_holistic.federation.child import Child, ChildGroup, Refusal
from nova_holistic.federation.saga.journal import (
    Journal, PartRecord, PartState)

LOG = logging.getLogger(__name__)


def undo_parts(parts: Iterable[PartRecord], child_of: Callable[[str], Child],
               journal: Journal, now: datetime,
               forget_missing: bool = False) -> bool:
    """Delete the groups of these parts in their children.

    A part whose create request may still arrive at the child remains in the
    journal until its lease would have ended, and so does a part of a child
    that does not answer.

    :param child_of: returns the child of a name, with the credentials of the
        user
    :param forget_missing: whether a part that its child does not have counts
        as undone even if its create request may still arrive. The part would
        then expire after its short lease
    :returns: whether all parts are undone
    :raises JournalRefused: the group belongs to another process
    """
    complete = True
    for part in parts:
        undoing = replace(part, state=PartState.UNDOING)
        journal.write(undoing)
        if _undone(undoing, child_of(part.child), journal,
                   None if forget_missing else now):
            journal.write(replace(undoing, state=PartState.UNDONE))
        else:
            complete = False
    return complete


def _undone(part: PartRecord, child: Child, journal: Journal,
            now: datetime | None) -> bool:
    """Whether the child is known not to have the group.

    :param now: None: create requests that may still arrive are ignored
    """
    if part.group_uuid is None:
        found = child.find(part.key, part.name)
        if found is None:
            return (now is None or part.lease_end is None
                    or part.lease_end <= now)
        if not isinstance(found, ChildGroup):
            _log(part, found)
            return False
        part = replace(part, group_uuid=found.uuid)
        journal.write(part)
    refusal = child.delete(part.group_uuid)
    if refusal is not None:
        _log(part, refusal)
    return refusal is None


def _log(part: PartRecord, refusal: Refusal) -> None:
    LOG.warning('Part %s in child %s is not undone yet: %s', part.key,
                part.child, '; '.join(str(each.message)
                                      for each in refusal.reasons))
