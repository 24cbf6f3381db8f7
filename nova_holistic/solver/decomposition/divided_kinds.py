# SPDX-License-Identifier: Apache-2.0
"""Kinds divided by policies, which become further resources of hosts.

A host takes few of the members of some policies. Such members are modelled as
one more resource of hosts, of which each of them requests one unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.solver.problem.kinds import Kind, Kinds


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A further resource.

    :ivar amounts: [new kind]: requested by each member
    :ivar free: free amount on each host
    """

    name: str
    amounts: np.ndarray
    free: int


def divided_kinds(kinds: Kinds, parts: Sequence[tuple[int, Sequence[Member]]],
                  room: np.ndarray, resources: Sequence[Resource]) -> Kinds:
    """Return the new kinds, with the resources.

    :param parts: the old kind of each new kind, and its members
    :param room: [new kind, host]: maximum number of members
    """
    amounts = np.array([each.amounts for each in resources],
                       dtype=np.int64).reshape(-1, len(parts))
    free = np.array([each.free for each in resources], dtype=np.int64)
    return replace(
        kinds, kinds=tuple(
            Kind(kinds.kinds[old].requirements, tuple(members), here)
            for (old, members), here in zip(parts, room)),
        names=(*kinds.names, *(each.name for each in resources)), room=room,
        amounts=np.column_stack((
            kinds.amounts[[old for old, _ in parts]], amounts.T)),
        total=np.concatenate((kinds.total, amounts @ [
            len(members) for _, members in parts])).astype(np.int64),
        free=np.column_stack((
            kinds.free, np.tile(free, (len(kinds.free), 1)))))
