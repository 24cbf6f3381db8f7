# SPDX-License-Identifier: Apache-2.0
"""Commits an update in several children.

The saga creates new parts with a short lease. Then it changes the existing
parts: first the parts that only gain members, then at most one part whose
child may refuse the change. After a refusal, it restores the former
definitions, which only removes members, and deletes the new parts. Finally, it
extends the leases of the new parts. Parts that only lose members change after
the table has the new definition.
"""

from collections.abc import Mapping, Sequence
import contextlib
from dataclasses import dataclass, replace
from datetime import datetime

from nova_holistic import crash_points
from nova_holistic.federation.child import (
    Child, ChildDefinition, ChildGroup, Document, Refusal, RefusalKind,
    UpdateTerms)
from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.results import PlacedPart
from nova_holistic.federation.saga.journal import (
    Journal, PartRecord, PartState)
from nova_holistic.federation.saga.saga import (
    Failed, LONGEST_LEASE, Order, Saga)
from nova_holistic.federation.update.part_change import (
    part_change, PartChange)
from nova_holistic.federation.update.part_definition import change_definition
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes


@dataclass(frozen=True, slots=True)
class ExistingPart:
    """A part that the group has before the update.

    :ivar child: the child that has the part. It does not accept that the part
        is gone if the credentials only do not show it
    :ivar document: document of the part in the child
    :ivar revived: whether the update plans members of the part again
    """

    child: Child
    record: PartRecord
    document: Document
    revived: bool = False


@dataclass(frozen=True, slots=True)
class PartLease:
    """The lease of a part that gains members.

    :ivar seconds: time from now to its end
    :ivar shortest: the shortest lease of new members, in seconds
    :ivar end: naive UTC; the end of the lease of the group that still runs, as
        the clouds have reported it on their clocks; None: no lease runs
    """

    seconds: int
    shortest: int
    end: datetime | None

    def exact(self, before: datetime | None, after: datetime | None) -> int:
        """The lease in seconds with which the part keeps the end that it has.
        The clock of the cloud may differ from the one of the parent, so that
        each update would move the end by the difference.

        :param before: end of the lease of the part before its extension
        :param after: end after the extension by ``seconds``
        """
        if self.end is None or before is None or after is None:
            return self.seconds
        moved = round((after - max(before, self.end)).total_seconds())
        return min(LONGEST_LEASE, max(self.shortest, self.seconds - moved))


class UpdateSaga:
    """One try to commit an update.

    :ivar orders: the parts of the latest try
    """

    def __init__(self, parts: Mapping[str, ExistingPart], terms: UpdateTerms,
                 lease: PartLease, journal: Journal, saga: Saga):
        """
        :param parts: parts that the group has, by the names of their children
        :param lease: lease of existing parts that gain members
        :param saga: creates the new parts
        """
        self.orders: Sequence[Order] = ()
        self._parts = parts
        self._terms = terms
        self._lease = lease
        self._journal = journal
        self._saga = saga
        self._changing: list[ExistingPart] = []

    def commit(self, orders: Sequence[Order], policy_types: PolicyTypes
               ) -> tuple[PlacedPart, ...] | Failed:
        """Commit the update in all children, or in none. Parts that only lose
        members become CHANGING in the journal, and are changed later.

        :param orders: all parts with members after the update
        :returns: the new parts
        :raises JournalRefused: the group belongs to another process
        """
        self.orders = orders
        changes = self._changes(orders, policy_types)
        others = [each for each, change in changes
                  if change is PartChange.OTHER]
        if len(others) > 1:
            return Failed(others[0], _refusal(
                others[0], 'several clouds may refuse their part of the '
                'change: change the members of one cloud at a time'))
        new = [each for each in orders if each.child.name not in self._parts]
        try:
            done = self._saga.commit(new, lambda: self._change(changes))
            if not isinstance(done, Failed):
                for order, change in changes:
                    if change is PartChange.REMOVED:
                        self._note(self._parts[order.child.name].record)
        except BaseException:
            self._restore()
            raise
        if isinstance(done, Failed):
            self._restore()
        return done

    def _changes(self, orders: Sequence[Order], policy_types: PolicyTypes
                 ) -> list[tuple[Order, PartChange]]:
        """The changes of existing parts, in the order in which they are made.
        """
        found = []
        for order in orders:
            part = self._parts.get(order.child.name)
            if part is not None:
                change = part_change(
                    part.document, order.document, policy_types)
                if change is PartChange.NONE and part.revived:
                    change = PartChange.ADDED
                found.append((order, change))
        return sorted(found, key=lambda each: [*PartChange].index(each[1]))

    def _change(self, changes: Sequence[tuple[Order, PartChange]]
                ) -> Failed | None:
        for order, change in changes:
            if change in (PartChange.ADDED, PartChange.OTHER):
                refusal = self._changed(order)
                if refusal is not None:
                    return Failed(order, refusal)
        return None

    def _changed(self, order: Order) -> Refusal | None:
        part = self._parts[order.child.name]
        child, uuid = part.child, part.record.group_uuid or ''
        self._note(part.record)
        self._changing.append(part)
        crash_points.reached('federation.change-noted')
        found = change_definition(
            child, uuid, order.document, self._terms, part.revived)
        crash_points.reached('federation.part-changed')
        if not isinstance(found, ChildDefinition):
            return found
        if set(order.paths) - set(part.record.paths) or part.revived:
            return self._extended(order, found.group)
        return None

    def _extended(self, order: Order, group: ChildGroup) -> Refusal | None:
        child, lease = self._parts[order.child.name].child, self._lease
        found = child.extend(group.uuid, lease.seconds)
        if isinstance(found, ChildGroup):
            exact = lease.exact(group.lease_end, found.lease_end)
            if exact != lease.seconds:
                found = child.extend(group.uuid, exact)
        if isinstance(found, ChildGroup):
            return None
        return found or _refusal(
            order, f'cloud {child.name}: the group disappeared before its '
            'lease was extended')

    def _restore(self) -> None:
        """Restore the former definitions, unless another process owns the
        group: it settles the parts, and may have changed them again. A child
        that does not answer gets its definition later, because its part
        remains CHANGING in the journal.
        """
        with contextlib.suppress(JournalRefused):
            for part in reversed(self._changing):
                self._note(part.record)
                found = change_definition(
                    part.child, part.record.group_uuid or '',
                    part.document, self._terms)
                if isinstance(found, ChildDefinition):
                    self._journal.write(replace(
                        part.record, state=PartState.COMMITTED,
                        lease_end=found.group.lease_end))
        self._changing.clear()

    def _note(self, record: PartRecord) -> None:
        self._journal.write(replace(record, state=PartState.CHANGING))


def _refusal(order: Order, text: str) -> Refusal:
    return Refusal(order.child.name, RefusalKind.INVALID, (
        Reason('', text, names=(), hidden=(), public=text),))
