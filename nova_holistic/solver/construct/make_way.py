# SPDX-License-Identifier: Apache-2.0
"""Seats that nobody left may have, because of who else is on their hosts."""

from collections.abc import Callable, Mapping, Sequence

from nova_holistic.solver.construct.attempt import Attempt


def make_way(attempt: Attempt, of_kind: Mapping[int, Sequence[int]], c: int,
             host: int, near: Callable[[int, int], bool]) -> bool:
    """Put one of the class on the host, from which another goes that changes
    places with one of its kind; whether that is possible.

    The host has room for one more of the class's kind.

    :param of_kind: classes of each kind
    :param near: whether members of a kind may change between two hosts
    """
    for classes in of_kind.values():
        for gone in classes:
            if gone == c or not attempt.counts[gone].get(host, 0):
                continue
            attempt.take(gone, host)
            if attempt.tally.at(c, host)[0]:
                attempt.put(c, host)
                if any(_comes(attempt, gone, comer, host, near)
                       for comer in classes if comer != gone):
                    return True
                attempt.take(c, host)
            attempt.put(gone, host)
    return False


def _comes(attempt: Attempt, gone: int, comer: int, host: int,
           near: Callable[[int, int], bool]) -> bool:
    """Bring one of the class that comes to the host, and who is gone from it
    to where that one was."""
    room, tally = attempt.case.room, attempt.tally
    if attempt.counts[comer].get(host, 0) >= room[comer, host] or (
            not tally.at(comer, host)[0]):
        return False
    for there in [*attempt.counts[comer]]:
        if there == host or not near(there, host) or (
                attempt.counts[gone].get(there, 0) >= room[gone, there]):
            continue
        attempt.take(comer, there)
        if tally.at(gone, there)[0]:
            attempt.put(gone, there)
            if tally.at(comer, host)[0]:
                attempt.put(comer, host)
                return True
            attempt.take(gone, there)
        attempt.put(comer, there)
    return False
