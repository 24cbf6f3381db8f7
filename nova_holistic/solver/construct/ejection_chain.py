# SPDX-License-Identifier: Apache-2.0
"""Ejection chains, for places that other members on the host block."""

from collections.abc import Callable, Mapping, Sequence

from nova_holistic.solver.construct.attempt import Attempt


def eject(attempt: Attempt, of_kind: Mapping[int, Sequence[int]], c: int,
          host: int, same_cell: Callable[[int, int], bool]) -> bool:
    """Put a member of the class on the host by ejecting another member, which
    changes places with a member of its kind; return whether this is possible.

    The host has room for one more of the class's kind.

    :param of_kind: classes of each kind
    :param same_cell: whether members of a kind may change between two hosts
    """
    for classes in of_kind.values():
        for ejected in classes:
            if ejected == c or not attempt.counts[ejected].get(host, 0):
                continue
            attempt.take(ejected, host)
            if attempt.tally.at(c, host)[0]:
                attempt.put(c, host)
                if any(_moves_in(attempt, ejected, entrant, host, same_cell)
                       for entrant in classes if entrant != ejected):
                    return True
                attempt.take(c, host)
            attempt.put(ejected, host)
    return False


def _moves_in(attempt: Attempt, ejected: int, entrant: int, host: int,
              same_cell: Callable[[int, int], bool]) -> bool:
    """Move a member of the entering class to the host, and the ejected member
    to the previous host of that member; return whether this is possible."""
    room, tally = attempt.case.room, attempt.tally
    if attempt.counts[entrant].get(host, 0) >= room[entrant, host] or (
            not tally.at(entrant, host)[0]):
        return False
    for there in [*attempt.counts[entrant]]:
        if there == host or not same_cell(there, host) or (
                attempt.counts[ejected].get(there, 0) >= room[ejected, there]):
            continue
        attempt.take(entrant, there)
        if tally.at(ejected, there)[0]:
            attempt.put(ejected, there)
            if tally.at(entrant, host)[0]:
                attempt.put(entrant, host)
                return True
            attempt.take(ejected, there)
        attempt.put(entrant, there)
    return False
