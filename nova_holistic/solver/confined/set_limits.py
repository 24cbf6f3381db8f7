# SPDX-License-Identifier: Apache-2.0
"""Upper limits of hard policies on the members of several sets in one domain
or in several domains, for example the capacity of a shared storage.

A limit is recognised by the form of its row, never by the type of the policy.
Rows of other forms are omitted, so the limits are necessary conditions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.decomposition.cells import rules_of
from nova_holistic.solver.limits.current import confined as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.rows import Kind, ScopedPolicy, Terms
from nova_holistic.solver.problem.rules import Rules, scoped_policies


@dataclass(frozen=True, slots=True, eq=False)
class SetLimits:
    """Limits of weighted sums of members on some hosts.

    :ivar scopes: paths of the members of each scope
    :ivar weights: [limit, scope]: weight of one member
    :ivar most: [limit]: maximum of the weighted sum
    :ivar hosts: [limit, host]: whether the limit contains the host
    """

    scopes: tuple[frozenset[str], ...]
    weights: np.ndarray
    most: np.ndarray
    hosts: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds, level: str, in_time: InTime) -> 'SetLimits':
        """The limits of policies that apply to several sets.

        :param level: the level of the sets' domains
        """
        carried = _spanning(kinds, level)
        rules = rules_of(kinds, carried, in_time)
        found = [*_limits(rules, in_time)] if carried else []
        numbers = sorted({scope for terms, _, _ in found
                          for scope in terms})
        weights = np.array([[terms.get(number, 0.0) for number in numbers]
                            for terms, _, _ in found])
        return cls(
            tuple(frozenset(m.path for m in rules.scopes[number].members)
                  for number in numbers),
            weights.reshape(len(found), len(numbers)),
            np.array([most for _, most, _ in found]),
            np.array([hosts for _, _, hosts in found], dtype=bool).reshape(
                len(found), len(kinds.table)))


def _spanning(kinds: Kinds, level: str) -> list[ScopedPolicy]:
    """Hard policies of the top-level group and of groups around the sets."""
    paths = {scope.path for scope in kinds.group.scopes()
             if any(policy.confines == level for policy in scope.group.rules)}
    outer = {'', *(path[:end] for path in paths for end, letter
                   in enumerate(path) if letter == '/')} - (paths - {''})
    found = [each for each in scoped_policies(kinds.group)
             if each.policy.hard and not each.policy.confines
             and each.scope.path in outer
             and not isinstance(each.policy, Relationship)]
    return found if len(found) <= limits().policies else []


def _limits(rules: Rules, in_time: InTime
            ) -> Iterator[tuple[dict[int, float], float, np.ndarray]]:
    """Yield scope to weight, maximum, and mask of hosts."""
    for row in rules.rows:
        in_time()
        most = row.bounds()[1]
        if np.isfinite(most) and _counts_one_domain(row.terms):
            atom, _ = row.terms[0]
            of_host = rules.table.division(atom.level).of_host
            yield ({each.scope: weight for each, weight in row.terms},
                   most, of_host == rules.table.domain_number(atom))
    for limit in rules.limits:
        of_host = rules.table.division(limit.level).of_host
        for number in limit.domains.tolist() if limit.level != HOST else ():
            in_time()
            yield ({limit.scope: 1.0}, float(limit.most), of_host == number)


def _counts_one_domain(terms: Terms) -> bool:
    """Whether the terms are counts of members of different scopes in one
    domain, with positive weights."""
    return (len({(atom.level, atom.domain) for atom, _ in terms}) == 1
            and len({atom.scope for atom, _ in terms}) == len(terms)
            and all(atom.kind is Kind.COUNT and weight > 0
                    for atom, weight in terms))
