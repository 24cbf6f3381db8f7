# SPDX-License-Identifier: Apache-2.0
"""Kinds that distinguish members by the limits of hosts that apply to them.

Members with the same requirements form one kind, although a policy may allow
one host only one member of a part of them. In a relaxation without policies,
the other members of the kind then take the place of those members. Kinds that
are divided by the policies that limit hosts have these limits as their room.
A policy for members of several kinds becomes one more resource of hosts, of
which each of its members requests one unit.
"""

import numpy as np

from nova_holistic.solver.decomposition.divided_kinds import (
    divided_kinds, Resource)
from nova_holistic.solver.problem.kinds import Kinds, limited_scopes


def limited_kinds(kinds: Kinds, most: int) -> Kinds:
    """Return the divided kinds; the same kinds if they would be more than
    ``most``, or if no policy limits hosts.

    :param kinds: kinds whose members request exactly the amounts of the kind
    """
    kind_of = kinds.kind_of
    scopes = [(limit, [m.path for m in scope.members if m.path in kind_of])
              for limit, scope in limited_scopes(kinds.group)]
    scopes = [(limit, paths) for limit, paths in scopes if limit < len(paths)]
    inside: dict[str, tuple[int, ...]] = dict.fromkeys(kind_of, ())
    for number, (_, paths) in enumerate(scopes):
        for path in paths:
            inside[path] += (number,)
    parts: dict[tuple[int, tuple[int, ...]], list] = {}
    for kind in kinds.kinds:
        for m in kind.members:
            parts.setdefault((kind_of[m.path], inside[m.path]), []).append(m)
    if not scopes or len(parts) > most:
        return kinds
    numbers = np.array([len(each) for each in parts.values()])
    within = np.array([[n in those for _, those in parts]
                       for n in range(len(scopes))], dtype=np.int64)
    limits = np.array([limit for limit, _ in scopes])
    room = np.minimum(np.minimum(
        kinds.room[[k for k, _ in parts]], numbers[:, None]), np.where(
        within > 0, limits[:, None], len(kinds.members)).min(axis=0)[:, None])
    return divided_kinds(
        kinds, [(k, members) for (k, _), members in parts.items()], room,
        [Resource(f'members of limit {n}', within[n], limits[n])
         for n in np.flatnonzero(within.sum(axis=1) > 1)])
