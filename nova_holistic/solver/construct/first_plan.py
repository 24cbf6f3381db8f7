# SPDX-License-Identifier: Apache-2.0
"""A first plan by greedy construction with repair, on some of many hosts.

It needs less effort than any other phase: neither a program nor a table of all
hosts for each class of members.
"""

import contextlib

import numpy as np

from nova_holistic.solver.construct.greedy import plans
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent


def first_plan(incumbent: Incumbent, deadline: Deadline) -> None:
    """Offer the incumbent some plans, if any is found in time."""
    table, time = HostTable.of(incumbent.snapshot), deadline.left()
    if not len(table) or not time:
        return
    with contextlib.suppress(OutOfTime):
        case = Case.of(
            incumbent.group, incumbent.snapshot, incumbent.placed,
            deadline.check, None if _are_few(incumbent, table)
            else table.part(_some_hosts(incumbent, table)), constructs=True)
        for counts in plans(case, deadline):
            incumbent.offer(case.placement(counts))
            if deadline.left() < limits().further_plan_share * time:
                break


def _are_few(incumbent: Incumbent, table: HostTable) -> bool:
    descriptions = len({m.description for m in incumbent.members})
    return (len(table) <= limits().all_hosts
            or len(table) * descriptions <= limits().all_places)


def _some_hosts(incumbent: Incumbent, table: HostTable) -> np.ndarray:
    """Sorted indexes of hosts: hosts with much free capacity from all
    locations, empty hosts, and suitable hosts for each kind of members."""
    room = _room(incumbent, table)
    order = np.argsort(-room, kind='stable')
    order = order[table.enabled[order]]
    hosts = table.hosts
    empty = [h for h in order.tolist()
             if not hosts[h].servers][:limits().empty_hosts]
    chosen = [_in_turn(order, table)[:limits().roomy_hosts],
              np.array(empty, dtype=int),
              _of_whole_domains(room, order, table)]
    eligibility = Eligibility(table)
    wanted = {id(m.requirements): m.requirements for m in incumbent.members}
    for each in [*wanted.values()][:limits().kinds]:
        suits = eligibility.suitable(each).copy()
        for name, amount in demands(each):
            suits &= table.amounts(name).free >= amount
        chosen.append(order[suits[order]][:limits().hosts_per_kind])
    stay = [table.index[name] for name in incumbent.placed.values()]
    return np.unique(np.concatenate(
        [*chosen, np.array(stay, dtype=int)])).astype(np.int64)


def _of_whole_domains(room: np.ndarray, order: np.ndarray,
                      table: HostTable) -> np.ndarray:
    levels = table.snapshot.levels
    if len(levels) < 2:
        return order[:0]
    division = table.division(levels[-2])
    inside = division.of_host >= 0
    total = np.bincount(division.of_host[inside], np.minimum(
        room[inside], 1.0), len(division.domains))
    rank = np.argsort(np.argsort(-total, kind='stable'), kind='stable')
    own = order[(division.of_host[order] >= 0) & (room[order] > 0)]
    return own[np.argsort(rank[division.of_host[own]],
                          kind='stable')][:limits().domain_hosts]


def _room(incumbent: Incumbent, table: HostTable) -> np.ndarray:
    """[host]: the share of the group's requested resources that it can take,
    regardless of other requirements."""
    asked: dict[str, int] = {}
    for member in incumbent.members:
        for name, amount in demands(member.requirements):
            asked[name] = asked.get(name, 0) + amount
    room = np.full(len(table), np.inf)
    for name, amount in asked.items():
        room = np.minimum(room, np.maximum(
            table.amounts(name).free, 0) / max(1, amount))
    return room


def _in_turn(order: np.ndarray, table: HostTable) -> np.ndarray:
    """The hosts, with the first host of each location before the second host
    of any location."""
    seen: dict[tuple[str, ...], int] = {}
    rank = np.zeros(len(order), dtype=np.int64)
    for number, host in enumerate(order.tolist()):
        place = table.hosts[host].location
        rank[number] = seen[place] = seen.get(place, -1) + 1
    return order[np.argsort(rank, kind='stable')]
