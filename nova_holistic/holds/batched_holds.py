# SPDX-License-Identifier: Apache-2.0
"""Writes and drops many holds in parts.

Each part is one request. The time of a request grows with the number of its
consumers, and a proxy ends a request that exceeds its timeout
(``benchmarks/holds.py``).
"""

from collections.abc import Callable, Collection, Mapping
import itertools
from typing import Any

from nova_holistic import crash_points
from nova_holistic.holds import allocation_bodies, errors, retry_policy
from nova_holistic.holds.requests import Requests
from nova_holistic.table.batches import batches

Note = Callable[[int], None]
"""Receives the number of holds that exist."""
Holds = Mapping[str, Mapping[str, Any]]
"""Consumers in the format of POST /allocations, by their UUIDs."""
Replan = Callable[[Collection[str], Collection[str]], Holds | None]
"""Receives the UUIDs of the holds that are written, and those of a part that
Placement has refused. Returns all holds to write in addition to the written
ones, or None to drop the written ones."""


class BatchedHolds:
    """Writes and drops holds. Each part is written completely or not at
    all."""

    def __init__(self, requests: Requests, size: int,
                 sleep: retry_policy.Sleep):
        """
        :param size: maximum number of holds in a part
        :param sleep: waits between two attempts at one part
        """
        self._requests = requests
        self._size = size
        self._sleep = sleep

    def put(self, holds: Holds, note: Note | None = None,
            replan: Replan | None = None) -> None:
        """Write the parts one after the other. If Placement refuses one of
        them, ``replan`` may choose other holds in place of those that are not
        written. Otherwise, the parts before it are dropped again.

        :param note: called between two parts, and after the parts before a
            refused part are dropped
        :raises CapacityUnavailable: the capacity is insufficient; none of the
            holds exists
        :raises HoldsError: it is unknown which of them exist
        """
        written: dict[str, Mapping[str, Any]] = {}
        waiting = dict(holds)
        while waiting:
            part = dict(itertools.islice(waiting.items(), self._size))
            if written:
                crash_points.reached('holds.part-put')
                if note is not None:
                    note(len(written))
                crash_points.reached('holds.part-noted')
            try:
                self._put_part(part)
            except errors.CapacityUnavailable:
                others = replan and replan(tuple(written), tuple(part))
                if others is None:
                    if written:
                        self._undo(written, note)
                    raise
                waiting = dict(others)
                continue
            written.update(part)
            for hold in part:
                del waiting[hold]

    def drop(self, holds: Collection[str],
             owner: tuple[str | None, str | None]) -> None:
        """Ensure that none of the holds exists.

        A part takes one request if its owner is known, and if all of its holds
        exist and have not changed. Otherwise, it takes an additional request
        for each hold.

        :param owner: project and user of all holds, if they are known
        """
        for part in batches(holds, self._size):
            if len(part) == 1 or not all(owner) or not self._emptied(
                    {hold: allocation_bodies.emptied_hold(*owner)
                     for hold in part}):
                for hold in part:
                    self._requests.delete(hold)
                    crash_points.reached('holds.one-dropped')
            crash_points.reached('holds.part-dropped')

    def _undo(self, written: Holds, note: Note | None) -> None:
        first = next(iter(written.values()))
        self.drop(written, (first['project_id'], first['user_id']))
        crash_points.reached('holds.parts-undone')
        if note is not None:
            note(0)
        crash_points.reached('holds.undo-noted')

    def _put_part(self, part: Mapping[str, Any]) -> None:
        """Write one part.

        A request without a response is sent again, unless it was carried out.
        It cannot be carried out twice, because every hold is a consumer that
        does not exist before.
        """
        unanswered: errors.NoResponse | None = None

        def attempt() -> bool:
            nonlocal unanswered
            try:
                if self._requests.post(part):
                    return True
            except errors.NoResponse as error:
                unanswered = error
            except errors.CapacityUnavailable:
                if unanswered is None:
                    raise
                # Placement may still carry out the previous request.
                raise unanswered from None
            # A request is carried out as a whole: if one hold of the part
            # exists as requested, then all exist.
            hold, wanted = next(iter(part.items()))
            found = self._requests.read(hold)
            return found is not None and allocation_bodies.same(
                found, wanted['allocations'])

        if not retry_policy.retry_until_success(attempt, self._sleep):
            raise unanswered or errors.HoldsError(
                'Placement refused every attempt because of concurrent '
                'changes to the hosts')

    def _emptied(self, part: Mapping[str, Any]) -> bool:
        """Whether one request has emptied all holds of a part."""
        try:
            return self._requests.post(part)
        except (errors.NoResponse, errors.CapacityUnavailable):
            # The caller then deletes each hold with a separate request.
            return False
