# SPDX-License-Identifier: Apache-2.0
"""Groups that are large only because of the number of their subgroups."""

from nova_holistic.solver.limits.current import construct, milp
from nova_holistic.solver.problem.kinds import Kinds


def size(kinds: Kinds) -> int:
    """Size of the problem: the number of pairs of a kind and a host that it
    can use, plus the product of the number of groups with rules and the number
    of hosts that some kind can use."""
    ruled = sum(bool(scope.group.rules) for scope in kinds.group.scopes())
    return int((kinds.room > 0).sum()) + ruled * int(
        (kinds.room > 0).any(axis=0).sum())


def many_subgroups(kinds: Kinds) -> bool:
    """Whether the group is large only because of many subgroups, each of which
    can use few hosts. Choosing hosts in advance would ignore the rules of
    these subgroups."""
    open_to = (kinds.room > 0).sum(axis=1)
    kind_of = kinds.kind_of
    under: dict[str, list[int]] = {path: [] for path in kind_of}
    for number, scope in enumerate(kinds.group.scopes()):
        for member in scope.members if scope.group.rules else ():
            if member.path in under:
                under[member.path].append(number)
    classes = {(kind_of[path], *numbers) for path, numbers in under.items()}
    hosts = len(kinds.table)
    places = sum(int(open_to[kind]) for kind, *_ in classes)
    return hosts <= construct().all_hosts and places <= min(
        milp().whole_places, len(classes) * hosts / 2)
