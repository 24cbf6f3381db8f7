# SPDX-License-Identifier: Apache-2.0
"""Kinds that distinguish members by the limits of hosts that apply to them.

Members with the same requirements form one kind, although a policy may allow
one host only one member of a part of them. In a relaxation without policies,
the other members of the kind then take the place of those members. Kinds that
are divided by the policies that limit hosts have these limits as their room.
A policy for members of several kinds becomes one more resource of hosts, of
which each of its members requests one unit.
"""

from dataclasses import replace

import numpy as np

from nova_holistic.solver.problem.kinds import Kind, Kinds


def limited_kinds(kinds: Kinds, most: int) -> Kinds:
    """Return the divided kinds; the same kinds if they would be more than
    ``most``, or if no policy limits hosts.

    :param kinds: kinds whose members request exactly the amounts of the kind
    """
    of_member = {m.path: k for k, kind in enumerate(kinds.kinds)
                 for m in kind.members}
    scopes = [(limit, [m.path for m in scope.members if m.path in of_member])
              for scope in kinds.group.scopes()
              if (limit := min((
                  each for policy in scope.group.rules if (
                      each := policy.most_on_a_host(scope)) is not None),
                  default=None)) is not None]
    scopes = [(limit, paths) for limit, paths in scopes if limit < len(paths)]
    inside: dict[str, tuple[int, ...]] = dict.fromkeys(of_member, ())
    for number, (_, paths) in enumerate(scopes):
        for path in paths:
            inside[path] += (number,)
    parts: dict[tuple[int, tuple[int, ...]], list] = {}
    for kind in kinds.kinds:
        for m in kind.members:
            parts.setdefault((of_member[m.path], inside[m.path]), []).append(m)
    if not scopes or len(parts) > most:
        return kinds
    old = [k for k, _ in parts]
    numbers = np.array([len(each) for each in parts.values()])
    within = np.array([[n in those for _, those in parts]
                       for n in range(len(scopes))], dtype=np.int64)
    limits = np.array([limit for limit, _ in scopes])
    room = np.minimum(np.minimum(kinds.room[old], numbers[:, None]), np.where(
        within > 0, limits[:, None], len(kinds.members)).min(axis=0)[:, None])
    shared = np.flatnonzero(within.sum(axis=1) > 1)
    return replace(
        kinds, kinds=tuple(
            Kind(kinds.kinds[k].requirements, tuple(members), here)
            for (k, _), members, here in zip(parts, parts.values(), room)),
        names=(*kinds.names, *(f'members of limit {n}' for n in shared)),
        room=room, amounts=np.column_stack((
            kinds.amounts[old], within[shared].T)),
        total=np.concatenate((kinds.total, within[shared] @ numbers)),
        free=np.column_stack((kinds.free, np.tile(
            limits[shared], (len(kinds.free), 1)))))
