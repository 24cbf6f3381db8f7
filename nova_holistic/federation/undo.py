# SPDX-License-Identifier: Apache-2.0
"""Undoes parts of a group in its children."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from oslo_log import log as logging

from nova_holistic.federation.child import Child, ChildGroup, Refusal
from nova_holistic.federation.saga.journal import (
    Journal, PartRecord, PartState)
from nova_holistic.table.errors import TableError

LOG = logging.getLogger(__name__)


def undo_parts(parts: Iterable[PartRecord],
               child_of: Callable[[PartRecord], Child], journal: Journal,
               now: datetime, forget_missing: bool = False
               ) -> Sequence[Refusal]:
    """Delete the groups of these parts in their children.

    A part whose create request may still arrive at the child remains in the
    journal until its lease would have ended, and so does a part of a child
    that does not answer.

    :param child_of: returns the child that has a part, with the credentials
        of the user
    :param forget_missing: whether a part that its child does not have counts
        as undone even if its create request may still arrive. The part would
        then expire after its short lease
    :returns: why parts are not undone; empty if all are undone, or remain only
        because their create requests may still arrive
    :raises JournalRefused: the group belongs to another process
    :raises TableError: the journal could not be written for a part; all other
        parts were tried
    """
    refusals = []
    failed: TableError | None = None
    for part in parts:
        try:
            undone = _undo(part, child_of(part), journal,
                           None if forget_missing else now)
        except TableError as error:
            LOG.warning('Part %s in child %s is not undone yet: %s', part.key,
                        part.child, error)
            failed = error
            continue
        if isinstance(undone, Refusal):
            LOG.warning('Part %s in child %s is not undone yet: %s', part.key,
                        part.child, '; '.join(str(each.message)
                                              for each in undone.reasons))
            refusals.append(undone)
    if failed is not None:
        raise failed
    return refusals


def _undo(part: PartRecord, child: Child, journal: Journal,
          now: datetime | None) -> bool | Refusal:
    """Delete the group of a part, and note this: see ``_undone``."""
    undoing = replace(part, state=PartState.UNDOING)
    journal.write(undoing)
    undone = _undone(undoing, child, journal, now)
    if undone is True:
        journal.write(replace(undoing, state=PartState.UNDONE))
    return undone


def _undone(part: PartRecord, child: Child, journal: Journal,
            now: datetime | None) -> bool | Refusal:
    """Whether the child is known not to have the group.

    :param now: None: create requests that may still arrive are ignored
    """
    if part.group_uuid is None:
        found = child.find(part.key, part.name)
        if found is None:
            return (now is None or part.lease_end is None
                    or part.lease_end <= now)
        if not isinstance(found, ChildGroup):
            return found
        part = replace(part, group_uuid=found.uuid,
                       project_id=found.project_id)
        journal.write(part)
    return child.delete(part.group_uuid) or True
