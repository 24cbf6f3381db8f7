# SPDX-License-Identifier: Apache-2.0
"""Decisions on the cached snapshot of the cloud, which may be out of date.

If a plan was made on a snapshot that is out of date, Placement refuses the
holds that do not fit. The decision that no plan exists has no such check. So
it is made only on a snapshot that was read after the request: capacity may
have been freed, or a flavor created, without a notification.
"""

from collections.abc import Callable
from typing import TypeVar

from nova_holistic.engine.decision.planning_request import NotPlanned
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.plan import Unplaceable
from nova_holistic.table.records import GroupStatus

T = TypeVar('T')


def read_cached_snapshot(inventory: CloudInventory, counted: bool) -> Snapshot:
    """The cached snapshot of the cloud.

    :param counted: whether the number of servers on each host is needed
    :raises HolisticError: the inventory does not respond
    """
    return (inventory.cached_snapshot() if counted
            else inventory.uncounted_snapshot())


def try_cached_snapshot(inventory: CloudInventory,
                        work: Callable[[Snapshot], T],
                        counted: bool = True) -> T:
    """The result of ``work`` for the cached snapshot. If it is a refusal, a
    complete snapshot is read, and the result or error of ``work`` for this
    snapshot counts.

    A refusal is a returned Unplaceable, an error NotPlanned with the status
    ``unplaceable``, or an error InvalidDocument, for example because the cloud
    has no such flavor. An exceeded time limit is not a refusal, because it
    proves nothing about the cloud.

    :param counted: whether the work depends on the number of servers on hosts
    """
    cached = read_cached_snapshot(inventory, counted)
    if not inventory.has_cache:
        return work(cached)
    try:
        answer = work(cached)
        if not isinstance(answer, Unplaceable):
            return answer
    except NotPlanned as refusal:
        if refusal.status != GroupStatus.UNPLACEABLE:
            raise
    except exceptions.InvalidDocument:
        # The error is raised again unless a complete snapshot contains the
        # missing object.
        pass
    return work(inventory.snapshot())


def try_recent_snapshot(inventory: CloudInventory,
                        work: Callable[[Snapshot], T], counted: bool) -> T:
    """The result of ``work`` for a recent snapshot, for choices that are
    checked again when they are used. If the cloud lacks an object, the newest
    cached snapshot counts.

    :param counted: whether the work depends on the number of servers on hosts
    :raises HolisticError: the inventory does not respond
    """
    if not counted and inventory.has_cache:
        try:
            return work(inventory.recent_snapshot())
        except exceptions.InvalidDocument:
            # Another engine may have planned the group with a new flavor.
            pass
    return work(read_cached_snapshot(inventory, counted))
