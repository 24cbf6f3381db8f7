# SPDX-License-Identifier: Apache-2.0
"""Commits a choice: creates every part with a short lease, then extends all
leases.

If the parent stops before the end, the leases expire. After a refusal, the
saga deletes the existing parts. After a lost answer, the repeated request
finds the created group by its idempotency key.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.federation.child import (
    Child, ChildGroup, Document, Refusal, RefusalKind)
from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.results import PlacedPart
from nova_holistic.federation.saga.journal import (
    Journal, PartRecord, PartState)
from nova_holistic.model.plan import Reason
from nova_holistic.table.errors import TableError

LOG = logging.getLogger(__name__)

T = TypeVar('T')

LONGEST_LEASE = 2**31 - 1
"""Seconds; used in place of no lease, because an extended lease always has an
end."""
_MIN_LEFT = timedelta(seconds=LONGEST_LEASE / 2)
"""Minimum time to the end of the lease of a part in a group without a lease.
Part of the longest lease has passed, and a clock may be wrong."""
_REPEATS = 2
"""Number of repetitions of a request whose answer was lost. More repetitions
would delay the undo of the other parts, whose short leases expire in any case.
"""
_LIVE = ('planned', 'claimed', 'built')
_USABLE = ('planned', 'building', 'complete')


@dataclass(frozen=True, slots=True)
class Order:
    """A part to create.

    :ivar key: idempotency key of the create request
    :ivar paths: paths of the members
    :ivar members: number of members that the child's group must have; None:
        the number may vary
    """

    child: Child
    key: str
    document: Document
    paths: tuple[str, ...]
    members: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The failure of a commit.

    :ivar order: the part that failed
    :ivar refusal: the refusal of its child
    """

    order: Order
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a commit.

    :ivar objective: None: the default of each child
    :ivar lease: seconds; 0: no lease
    :ivar commit_lease: seconds; lease of a part until all parts exist
    :ivar seconds: time limit of one create request
    """

    objective: str | None
    lease: int
    commit_lease: int
    seconds: float


class _Stopped(Exception):
    """A part cannot be created or kept."""

    def __init__(self, failed: Failed):
        super().__init__()
        self.failed = failed


class Saga:
    """One try to commit a choice."""

    def __init__(self, terms: Terms, journal: Journal,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._terms = terms
        self._journal = journal
        self._clock = clock
        self._records: dict[str, PartRecord] = {}

    def commit(self, orders: Sequence[Order],
               between: Callable[[], Failed | None] = lambda: None
               ) -> tuple[PlacedPart, ...] | Failed:
        """Create all parts, or none.

        :param orders: the parts, in an order that all parents share, so that
            no two of them each hold capacity that the other needs
        :param between: called when all parts exist, and before their leases
            are extended; if it fails, the parts are undone
        :raises JournalRefused: the group was deleted, or belongs to another
            process; every part is undone, or in the journal as UNDOING
        """
        try:
            groups = [self._create(each) for each in orders]
            failed = between()
            if failed is not None:
                raise _Stopped(failed)
            return tuple(self._extend(each, group)
                         for each, group in zip(orders, groups, strict=True))
        except _Stopped as stopped:
            self._undo(orders)
            return stopped.failed
        except BaseException:
            self._undo(orders)
            raise

    def _create(self, order: Order) -> ChildGroup:
        terms = self._terms
        now = self._clock()
        self._write(order, PartState.CREATING, None, now + timedelta(
            seconds=terms.seconds * (1 + _REPEATS) + terms.commit_lease))
        crash_points.reached('federation.part-noted')
        *lost, found = _answers(lambda: order.child.create(
            order.document, terms.objective, terms.commit_lease, order.key,
            terms.seconds))
        crash_points.reached('federation.part-created')
        if isinstance(found, Refusal):
            if not lost and found.kind not in (RefusalKind.UNREACHABLE,
                                               RefusalKind.INVALID):
                # The child refused the only request. A request whose answer
                # was lost may have created the group.
                self._write(order, PartState.UNDONE, None, None)
            raise _Stopped(Failed(order, found))
        self._write(order, PartState.CREATED, found, found.lease_end)
        crash_points.reached('federation.part-written')
        self._must_be_whole(order, found)
        return found

    def _extend(self, order: Order, group: ChildGroup) -> PlacedPart:
        seconds = self._terms.lease or LONGEST_LEASE
        end = self._clock() + timedelta(seconds=seconds)
        self._write(order, PartState.EXTENDING, group, end)
        found = _repeated(lambda: order.child.extend(group.uuid, seconds))
        crash_points.reached('federation.part-extended')
        if isinstance(found, Refusal):
            raise _Stopped(Failed(order, found))
        if found is None:
            raise _Stopped(Failed(order, _refusal(
                order, 'the group disappeared before its lease was extended')))
        self._must_be_whole(order, found)
        self._write(order, PartState.COMMITTED, found, found.lease_end)
        return PlacedPart(order.child.name, found, order.paths)

    def _must_be_whole(self, order: Order, group: ChildGroup) -> None:
        """Check that the child has planned each requested member.

        :raises _Stopped: a member is missing
        """
        if group.status not in _USABLE:
            raise _Stopped(Failed(order, _unplanned(order, group)))
        live = sum(group.counts.get(state, 0) for state in _LIVE)
        others = sum(group.counts.values()) - live
        if live != order.members if order.members is not None else not live:
            raise _Stopped(Failed(order, _refusal(
                order, f'{live} members are planned, not {order.members}; '
                f'{others} have another state')))

    def _undo(self, orders: Sequence[Order]) -> None:
        """Delete every part that may exist. Errors of the journal are ignored,
        because the other parts must be undone, too."""
        for order in reversed(orders):
            record = self._records.get(order.key)
            if record is None or record.state is PartState.UNDONE:
                continue
            self._try_to_write(replace(record, state=PartState.UNDOING))
            if record.group_uuid is None:
                found = order.child.find(order.key, record.name)
                if not isinstance(found, ChildGroup):
                    # The request may still arrive. The record remains until
                    # its lease would have ended.
                    continue
                record = replace(record, group_uuid=found.uuid,
                                 project_id=found.project_id)
                self._try_to_write(replace(record, state=PartState.UNDOING))
            if _repeated(lambda: order.child.delete(
                    record.group_uuid)) is None:
                crash_points.reached('federation.part-undone')
                self._try_to_write(replace(record, state=PartState.UNDONE))

    def _write(self, order: Order, state: PartState, group: ChildGroup | None,
               lease_end: datetime | None) -> None:
        record = PartRecord(
            order.key, order.child.name, order.document['name'], order.paths,
            state, lease_end, group and group.uuid, group and group.project_id)
        # A part that may exist must be undone, also if this write fails.
        self._records[order.key] = record
        self._journal.write(record)

    def _try_to_write(self, record: PartRecord) -> None:
        self._records[record.key] = record
        try:
            self._journal.write(record)
        except (JournalRefused, TableError) as error:
            LOG.warning('Part %s in child %s is undone without a record: %s',
                        record.key, record.child, error)


def is_longest(end: datetime, now: datetime) -> bool:
    """Whether a part has the longest lease, because its group has no lease.

    :param end: end of the lease of the part, in naive UTC
    :param now: naive UTC
    """
    return end > now + _MIN_LEFT


def _repeated(request: Callable[[], T]) -> T:
    """The answer; a request without an answer is sent again."""
    return _answers(request)[-1]


def _answers(request: Callable[[], T]) -> Sequence[T]:
    """The answer, after the refusals of the same request that were lost."""
    found = [request()]
    for _ in range(_REPEATS):
        last = found[-1]
        if not (isinstance(last, Refusal)
                and last.kind is RefusalKind.UNREACHABLE):
            break
        found.append(request())
    return found


def _unplanned(order: Order, group: ChildGroup) -> Refusal:
    """The refusal of a child that has created the group and has not planned
    it. Only the status ``unplaceable`` proves that the group does not fit."""
    kind = (RefusalKind.UNPLACEABLE if group.status == 'unplaceable'
            else RefusalKind.UNKNOWN)
    return Refusal(order.child.name, kind, group.reasons) if (
        group.settled or group.reasons) else _refusal(
            order, 'the group was not planned in time', kind)


def _refusal(order: Order, text: str,
             kind: RefusalKind = RefusalKind.UNPLACEABLE) -> Refusal:
    name = order.child.name
    text = f'cloud {name}: {text}'
    return Refusal(name, kind, (
        Reason('', text, names=(), hidden=(), public=text),))


def orders(children: Mapping[str, Child], paths: Mapping[str, tuple[str, ...]],
           documents: Mapping[str, Document], key: str,
           fixed: bool) -> tuple[Order, ...]:
    """The parts of a choice, in the order of the names of the children.

    :param paths: cloud to its members
    :param key: start of the idempotency keys
    :param fixed: whether the number of members cannot change
    """
    return tuple(
        Order(children[cloud], f'{key}-{cloud}', documents[cloud],
              paths[cloud], len(paths[cloud]) if fixed else None)
        for cloud in sorted(paths))
