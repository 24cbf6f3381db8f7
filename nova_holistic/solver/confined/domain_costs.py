# SPDX-License-Identifier: Apache-2.0
"""The minimum cost of each number of members of each kind in each domain, by
dynamic programming over the hosts of the domain."""

from collections.abc import Sequence

import numpy as np

from nova_holistic.solver.confined.host_patterns import HostPatterns
from nova_holistic.solver.problem.deadline import InTime


def domain_costs(patterns: HostPatterns, types: Sequence[np.ndarray],
                 most: Sequence[int], in_time: InTime) -> np.ndarray:
    """[domain, members of the first kind, members of the second kind, ...]:
    the minimum cost; infinite if the domain has no room for the members.

    :param types: for each domain, [host]: host type. Domains with the largest
        numbers of hosts come first
    :param most: [kind]: maximum number of members
    """
    lengths = np.array([len(each) for each in types])
    found = _empty(len(types), most)
    for position in range(int(lengths.max(initial=0))):
        in_time()
        number = int((lengths > position).sum())
        found[:number] = _with_host(patterns, found[:number], patterns.costs[
            [each[position] for each in types[:number]]])
    return found


def cheapest_patterns(patterns: HostPatterns, types: np.ndarray,
                      members: Sequence[int], in_time: InTime) -> list[int]:
    """[host]: the pattern of each host of a domain, with the minimum cost of
    all patterns that hold exactly these members.

    :param types: [host]: host type
    :param members: [kind]; the domain has room for them
    """
    steps = [_empty(1, members)]
    for each in types:
        in_time()
        steps.append(_with_host(patterns, steps[-1],
                                patterns.costs[[each]]))
    left, chosen = np.array(members), []
    for each, before in zip(types[::-1], steps[-2::-1]):
        some = np.flatnonzero((patterns.members <= left).all(axis=1))
        rest = left - patterns.members[some]
        best = some[np.argmin(before[(0, *rest.T)]
                              + patterns.costs[each, some])]
        chosen.append(int(best))
        left = left - patterns.members[best]
    return chosen[::-1]


def _empty(domains: int, most: Sequence[int]) -> np.ndarray:
    """The costs of domains without hosts."""
    found = np.full((domains, *(int(number) + 1 for number in most)), np.inf)
    found[(slice(None), *(0 for _ in most))] = 0.0
    return found


def _with_host(patterns: HostPatterns, before: np.ndarray,
               costs: np.ndarray) -> np.ndarray:
    """The costs of domains after one host was added to each of them.

    :param costs: [domain, pattern]: costs of the added hosts
    """
    most, ones = np.array(before.shape[1:]) - 1, (1,) * (before.ndim - 1)
    after = before.copy()
    for number in np.flatnonzero(np.isfinite(costs).any(axis=0)).tolist():
        members = patterns.members[number]
        if not members.any() or (members > most).any():
            continue
        into = after[(slice(None), *(slice(n, None) for n in members))]
        rest = before[(slice(None), *(
            slice(None, size + 1 - n) for size, n in zip(most, members)))]
        np.minimum(into, rest + costs[:, number].reshape(-1, *ones), out=into)
    return after
