# SPDX-License-Identifier: Apache-2.0
"""Matches the groups of a description with those of a request.

The suffixes may differ: the request names a port by its UUID, which the
description does not know. Two groups match if their contents are equal, and if
they must be in one subtree with matching groups.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

MAX_STEPS = 10_000
"""Maximum number of steps, after which the groups count as different. The
value was not measured."""

Sets = Collection[frozenset[str]]
"""Suffixes of groups that must be in one subtree."""


def matching_suffixes(described: Mapping[str, Any], described_sets: Sets,
                      asked: Mapping[str, Any], asked_sets: Sets
                      ) -> Mapping[str, str] | None:
    """The suffix in the request of each group of the description.

    :param described: content of the groups of the description, by suffix
    :param asked: content of the groups of the request, by suffix
    :returns: None if the groups do not match
    """
    if len(described) != len(asked):
        return None
    free = dict(asked)
    found: dict[str, str] = {}
    steps = iter(range(MAX_STEPS))
    # The groups that no set connects can be matched one after another.
    for suffixes, sets in _connected(described, described_sets):
        matched = _match(suffixes, sets, described, free, set(asked_sets),
                         steps)
        if matched is None:
            return None
        found.update(matched)
        for suffix in matched.values():
            del free[suffix]
    return found if _translated(described_sets, found) == set(
        asked_sets) else None


def _connected(described: Mapping[str, Any],
               sets: Sets) -> Sequence[tuple[Sequence[str], Sets]]:
    """The parts of the groups that sets connect, each with its sets; the
    largest part comes first."""
    parts = {suffix: frozenset([suffix]) for suffix in described}
    for each in sets:
        joined = frozenset().union(*(parts[suffix] for suffix in each))
        parts.update(dict.fromkeys(joined, joined))
    return [(sorted(part), [each for each in sets if each <= part])
            for part in sorted(set(parts.values()),
                               key=lambda part: (-len(part), sorted(part)))]


def _match(suffixes: Sequence[str], sets: Sets, described: Mapping[str, Any],
           free: Mapping[str, Any], asked_sets: Sets,
           steps: Iterator[int]) -> Mapping[str, str] | None:
    """The suffix in the request of each of the connected groups; None if they
    do not match."""
    in_sets = frozenset().union(*asked_sets)

    def further(found: dict[str, str]) -> Mapping[str, str] | None:
        if len(found) == len(suffixes):
            return found if _translated(sets, found) <= asked_sets else None
        suffix = suffixes[len(found)]
        # The same suffix comes first.
        for other in sorted(free, key=lambda each: (each != suffix, each)):
            if (other in found.values() or free[other] != described[suffix]
                    or (other in in_sets) != bool(sets)):
                continue
            if next(steps, None) is None:
                return None
            if answer := further({**found, suffix: other}):
                return answer
        return None
    return further({})


def _translated(sets: Sets, suffixes: Mapping[str, str]
                ) -> set[frozenset[str]]:
    return {frozenset(suffixes[each] for each in some) for some in sets}
