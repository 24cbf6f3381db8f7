# SPDX-License-Identifier: Apache-2.0
"""Other hosts that could take a member, everyone else staying as planned."""

from collections.abc import Iterator, Mapping

import numpy as np

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.solver.case import Case
from nova_holistic.solver.rules import Carried
from nova_holistic.solver.tally import Tally

_LOOKS = 50
"""Hosts that the policies' checks are asked about, for one member."""


def alternates(group: Group, snapshot: Snapshot, plan: Plan, limit: int, *,
               placed: Mapping[str, str] = FrozenMapping()
               ) -> dict[str, tuple[str, ...]]:
    """Member path to names of such hosts, the emptiest first.

    Each keeps the member's requirements, capacity after the whole plan, and
    every hard policy. The planned host is never among them.

    :param limit: most hosts a member
    :param placed: members whose use is in the snapshot already
    """
    snapshot = snapshot.without_servers(placed.values())
    case = Case.of(bind(group, snapshot), snapshot, {})
    at = {path: case.table.index[name]
          for path, name in plan.hosts().items()}
    free = _free_after(case, at, placed)
    emptiness = _emptiness(case, free)
    tally = Tally(case)
    for c, each in enumerate(case.classes):
        for member in each.members:
            tally.add(c, at[member.path])
    where = {path: snapshot.hosts[h] for path, h in at.items()}
    governing = _governing(case)
    found = {}
    for c, each in enumerate(case.classes):
        suits = _suits(case, c, free)
        for member in each.members:
            tally.remove(c, at[member.path])
            fine = suits & tally.verdict(c, at[member.path])[0]
            tally.add(c, at[member.path])
            fine[at[member.path]] = False
            hosts = np.flatnonzero(fine)
            hosts = hosts[np.argsort(-emptiness[hosts], kind='stable')]
            found[member.path] = tuple(_kept(
                case, governing.get(member.path, ()), where, member.path,
                hosts[:_LOOKS].tolist(), limit))
    return {member.path: found[member.path] for member in case.members}


def _free_after(case: Case, at: Mapping[str, int],
                placed: Mapping[str, str]) -> dict[str, np.ndarray]:
    free: dict[str, np.ndarray] = {}
    for each in case.classes:
        for name, amount in each.demands:
            column = free.setdefault(
                name, case.table.amounts(name).free.copy())
            for member in each.members:
                if member.path not in placed:
                    column[at[member.path]] -= amount
    return free


def _emptiness(case: Case, free: Mapping[str, np.ndarray]) -> np.ndarray:
    shares = [np.clip(column / np.maximum(
        case.table.amounts(name).capacity, 1), 0, 1)
        for name, column in free.items()]
    return np.mean(shares, axis=0) if shares else np.zeros(len(case.table))


def _suits(case: Case, c: int, free: Mapping[str, np.ndarray]) -> np.ndarray:
    suits = case.room[c] > 0
    for name, amount in case.classes[c].demands:
        suits = suits & (free[name] >= amount)
    return suits


def _governing(case: Case) -> dict[str, list[Carried]]:
    """Member path to the hard policies that it is under."""
    found: dict[str, list[Carried]] = {}
    for each in case.policies:
        if each.policy.hard:
            for member in each.scope.members:
                found.setdefault(member.path, []).append(each)
    return found


def _kept(case: Case, policies: list[Carried], where: dict[str, Host],
          path: str, hosts: list[int], limit: int) -> Iterator[str]:
    """Names of hosts on which the policies' own checks find no fault."""
    planned = where[path]
    number = 0
    for h in hosts:
        if number == limit:
            break
        where[path] = case.table.hosts[h]
        if not any(each.policy.check(each.scope, where, case.snapshot).count
                   for each in policies):
            number += 1
            yield case.table.hosts[h].name
    where[path] = planned
