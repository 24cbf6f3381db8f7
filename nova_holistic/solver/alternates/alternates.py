# SPDX-License-Identifier: Apache-2.0
"""The computation of alternates, which are valid in any combination.

Any number of builds may fail, and Nova does not call the scheduler again
before it builds a server on an alternate. Therefore, the hard policies hold
for every combination in which each member is on its planned host or one of its
alternates.

The effort is bounded: alternates are chosen from a shortlist for each member
description, and policies are encoded for these hosts only.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.solver.alternates.reachable_rules import ReachableRules
from nova_holistic.solver.alternates.served_hosts import ServedHosts
from nova_holistic.solver.alternates.shortlist import masks, Room, Shortlists
from nova_holistic.solver.alternates.worst_case import WorstCase
from nova_holistic.solver.limits.current import alternates as limits
from nova_holistic.solver.limits.current import limits as all_limits, using
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.problem.case import Case, placed_at, reach
from nova_holistic.solver.problem.deadline import Deadline, InTime, OutOfTime
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.settings import Settings, UNLIMITED
from nova_holistic.solver.trees.tree_problem import tree_problem


def alternates(planned: PlannedGroup, limit: int, *,
               existing_alternates: Mapping[str, Sequence[str]]
               = FrozenMapping(),
               settings: Settings = UNLIMITED) -> dict[str, tuple[str, ...]]:
    """Member path to the names of its alternates, in the order of preference.

    Each host meets the requirements of the member, and has room for it in
    addition to the whole plan. If members use nested providers or request
    groups, providers of the host were found that can serve all of them. On a
    provider that hosts share, the member needs room instead of that of its
    planned place. Emptier hosts are preferred. If few hosts are available,
    each member gets one alternate before any member gets a second one. The
    planned host is never an alternate. The result depends only on the
    arguments, unless the time limit is reached; then it contains the
    alternates found so far.

    :param planned: the group; members in ``placed`` stay and get no alternates
    :param limit: maximum number of alternates of a member
    :param existing_alternates: alternates of the members that stay
    :param settings: the time limit and its clock, and the limits of size and
        effort
    :raises InvalidDocument: if a member of ``placed`` or its host is unknown
    """
    in_time = Deadline(settings.timer, settings.time_limit).check
    found: dict[str, list[str]] = {
        m.path: [] for m in planned.group.all_members()}
    try:
        with using(settings.limits or all_limits()):
            choice = _Choice.of(planned, limit, existing_alternates, in_time)
            for _ in range(limit):
                for path, host in choice.next_round().items():
                    found[path].append(choice.case.table.hosts[host].name)
                in_time()
    except OutOfTime:
        # The results of complete rounds are valid.
        pass
    return {path: tuple(names) for path, names in found.items()}


@dataclass(slots=True)
class _AlternateSearch:
    """A member, and the hosts that may become its alternates.

    :ivar hosts: indexes of the hosts on its shortlist
    :ivar suits: for each of these hosts, whether it may be an alternate
    :ivar left: number of further hosts that may be refused, not counting
        refusals that exclude other hosts as well
    """

    member: Member
    hosts: np.ndarray
    suits: np.ndarray
    left: int = field(
        default_factory=lambda: limits().failed_hosts)

    def next(self, worst_case: WorstCase, room: Room,
             served: ServedHosts) -> int | None:
        """Add one host to the places of the member, and return its index; None
        if no host was found.

        Emptier hosts are preferred. At levels where further domains led to
        refusals, hosts in the domains of the member's places come first.
        """
        path = self.member.path
        self.suits &= (worst_case.possible(path, self.hosts)
                       & served.possible(path, self.hosts))
        while self.left:
            place = self._emptiest(
                room, self.suits & worst_case.within_domains(path, self.hosts))
            if place is None:
                place = self._emptiest(room, self.suits)
            if place is None:
                break
            self.suits[place] = False
            host = int(self.hosts[place])
            if not served.serves(path, host):
                self.left -= 1
                continue
            learned = worst_case.learned
            if worst_case.admits(path, host):
                worst_case.add(path, host)
                room.reserve(self.member.requirements, host)
                return host
            if worst_case.learned > learned:
                self.suits &= worst_case.possible(path, self.hosts)
            else:
                self.left -= 1
        return None

    def _emptiest(self, room: Room, suits: np.ndarray) -> int | None:
        if not suits.any():
            return None
        return int(np.argmax(np.where(
            suits, room.emptiness[self.hosts], -1.0)))


@dataclass(slots=True)
class _Choice:
    """The search for alternates. Each round gives each member at most one
    further alternate.

    :ivar places: member path to the indexes of its hosts: first the planned
        host, then the given alternates
    """

    case: Case
    places: Mapping[str, Sequence[int]]
    room: Room
    worst_case: WorstCase
    served: ServedHosts
    searches: list[_AlternateSearch]
    in_time: InTime

    @classmethod
    def of(cls, planned: PlannedGroup, limit: int,
           given: Mapping[str, Sequence[str]], in_time: InTime) -> '_Choice':
        """Prepare the search, with the arguments of ``alternates``."""
        placed = planned.placed
        snapshot = planned.snapshot.without_servers(placed.values())
        bound = bind(planned.group, snapshot)
        real_hosts = snapshot.hosts
        group, snapshot = _without_trees(bound, snapshot, placed)
        table = HostTable.of(snapshot)
        # Given alternates that are in the table.
        also = {path: [table.index[name] for name in given[path]
                       if name in table.index]
                for path in given.keys() & placed.keys()}
        own = {path: table.index[name]
               for path, name in planned.plan.hosts().items()}
        members = [m for m in group.all_members() if m.path not in placed]
        room = Room.of(table, members, own)
        lists = Shortlists.of(
            group, table, room, own, limit, in_time).of_members(members)
        at = placed_at(group.all_members(), table, placed)
        case = _case(group, snapshot, table, at, reach(
            group.all_members(), masks(lists, own, len(table)), at,
            len(table), also), in_time)
        places = {path: [host, *also.get(path, ())]
                  for path, host in own.items()}
        return cls(
            case, places, room, WorstCase(case, places),
            ServedHosts.of({
                m.path: m for m in bound.all_members()
                if m.path not in placed}, real_hosts, own, in_time), [
                _AlternateSearch(
                    m, lists[m.path], lists[m.path] != own[m.path])
                for m in members], in_time)

    def next_round(self) -> Mapping[str, int]:
        """Member path to the index of its alternate of this round.

        Members without an alternate in this round get none in later rounds."""
        further: dict[str, int] = {}
        for search in self.searches:
            self.in_time()
            host = search.next(self.worst_case, self.room, self.served)
            if host is not None:
                further[search.member.path] = host
        broken = _broken(self.case, self.places, further)
        self.searches = [
            each for each in self.searches
            if each.member.path in further and each.member.path not in broken]
        return {each.member.path: further[each.member.path]
                for each in self.searches}


def _without_trees(group: Group, snapshot: Snapshot,
                   placed: Collection[str]) -> tuple[Group, Snapshot]:
    """The group and the snapshot with the rows of provider trees as resource
    classes. ``ServedHosts`` checks the capacity that hosts share, because an
    alternate needs it instead of the planned place.

    :param group: the group, bound to the snapshot
    """
    problem = tree_problem(group, snapshot, placed)
    if problem is None:
        return group, snapshot
    return (replace(problem.group, policies=group.policies),
            problem.snapshot)


def _case(group: Group, snapshot: Snapshot, table: HostTable,
          placed: Mapping[str, int], reached: Mapping[str, np.ndarray],
          in_time: InTime) -> Case:
    """The hard policies of the group, encoded for the possible hosts of
    members."""
    policies = tuple(each for each in scoped_policies(group)
                     if each.policy.hard)
    rules = ReachableRules(table, np.zeros(len(table), dtype=bool),
                           next(group.scopes()), reached, in_time)
    rules.encode(policies)
    return Case(group, snapshot, table, group.all_members(), placed, rules,
                (), np.zeros((0, len(table)), dtype=np.int64), policies)


def _broken(case: Case, places: Mapping[str, Sequence[int]],
            further: Mapping[str, int]) -> set[str]:
    """Members of policies whose checks find a violation that the rows do not
    exclude.

    The checks run with all members on their alternates, and with either half
    of them. To check each member separately would take quadratic time.
    """
    paths = list(further)
    found: set[str] = set()
    for some in (paths, paths[::2], paths[1::2]):
        where = {path: case.table.hosts[host]
                 for path, (host, *_) in places.items()}
        where.update((path, case.table.hosts[further[path]]) for path in some)
        for each in case.policies:
            if each.policy.check(each.scope, where, case.snapshot).count:
                found.update(member.path for member in each.scope.members)
    return found
