# SPDX-License-Identifier: Apache-2.0
"""Seats for members who talk: the largest mixes in as few domains as can be,
coarse levels first, hosts last.

Capacity and numbers of members are kept on the way; whoever deals the seats
out judges all rules.
"""

from collections.abc import Sequence
import itertools

import numpy as np

from nova_holistic.model.domain import HOST
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.traffic.books import Books, Crew
from nova_holistic.solver.traffic.portions import (
    as_many, balanced, shared_out, Wanted)
from nova_holistic.solver.traffic.sorts import Sorts
from nova_holistic.solver.traffic.traffic import Star, Talk
from nova_holistic.solver.traffic.traffic_bound import TrafficBound

_LESS = 0.01
_ALIKE = 1e-6


class Cluster:
    """Fills domains with members of one star after another.

    :ivar taken: for each crew, host index to number of its members
    """

    def __init__(self, kinds: Kinds, talk: Talk, near: TrafficBound,
                 books: Books, crews: Sequence[Crew], deadline: Deadline):
        self._kinds, self._talk, self._near = kinds, talk, near
        self._books, self._crews = books, crews
        self._deadline = deadline
        self.taken: list[dict[int, int]] = [{} for _ in crews]
        self._left = [len(crew.paths) for crew in crews]

    def run(self, numbers: np.ndarray) -> None:
        """Give as many of each crew seats in each cell as it is to have.

        :param numbers: [part, cell]
        """
        grid, levels = self._near.grid, self._kinds.table.snapshot.levels
        fine = [level for level in levels if level not in grid.domain_of]
        budget = self._budget(numbers)
        for star in self._talk.stars:
            for cell in range(grid.count):
                wanted: Wanted = {}
                for nodes, here in budget.items():
                    if nodes & {*star.nodes}:
                        wanted.update(shared_out(int(here[cell]), {
                            c: self._left[c] for c, crew
                            in enumerate(self._crews)
                            if crew.nodes == nodes}))
                left = self._fill(star, fine, np.flatnonzero(
                    grid.of == cell), dict(wanted))
                for c, number in wanted.items():
                    budget[self._crews[c].nodes][cell] -= number - left[c]

    def _budget(self, numbers: np.ndarray
                ) -> dict[frozenset[int], np.ndarray]:
        """For the nodes of each crew, members still to be placed by cell."""
        found = {}
        placed = self._kinds.placed
        for nodes in {crew.nodes: None for crew in self._crews}:
            here = np.zeros(self._near.grid.count, dtype=np.int64)
            for paths, row in zip(self._near.standing.parts, numbers):
                if nodes == frozenset(
                        n for n, node in enumerate(self._talk.nodes)
                        if next(iter(paths)) in node.paths):
                    here += row
                    for path in paths & placed.keys():
                        here[self._near.grid.of[placed[path]]] -= 1
            found[nodes] = here.clip(0)
        return found

    def _fill(self, star: Star, levels: Sequence[str], hosts: np.ndarray,
              wanted: Wanted) -> Wanted:
        """Seats on the hosts; who found none."""
        if levels[0] == HOST:
            return self._pack(star, hosts, wanted)
        of_host = self._kinds.table.division(levels[0]).of_host[hosts]
        opened = np.unique(of_host[of_host >= 0])
        while len(opened) and any(wanted.values()):
            self._deadline.check()
            domain, mix = self._choose(star, levels[0], opened, wanted)
            if not any(mix):
                break
            inside = hosts[of_host == domain]
            for slot, node in enumerate(star.nodes):
                mix[slot] = min(mix[slot], sum(
                    n for c, n in wanted.items()
                    if node in self._crews[c].nodes))
            share = self._of_mix(star, mix, wanted)
            rest = self._fill(star, levels[1:], inside, dict(share))
            short = sum(rest.values())
            for c, number in share.items():
                wanted[c] -= number - rest[c]
            if short:
                # Others of the same nodes may fit where these do not.
                missing = [sum(rest[c] for c in rest if node in
                               self._crews[c].nodes) for node in star.nodes]
                others = {c: n if not rest.get(c) else 0
                          for c, n in wanted.items()}
                share = self._of_mix(star, missing, others)
                rest = self._fill(star, levels[1:], inside, dict(share))
                for c, number in share.items():
                    wanted[c] -= number - rest[c]
            opened = opened[opened != domain]
        return wanted

    def _choose(self, star: Star, level: str, domains: np.ndarray,
                wanted: Wanted) -> tuple[int, list[int]]:
        """The domain that keeps most traffic, and how many more of each node
        are to come there."""
        slots = [[c for c in wanted if node in self._crews[c].nodes]
                 for node in star.nodes]
        there = self._books.numbers[level][list(star.nodes)][:, domains].T
        more = np.column_stack([np.minimum(
            self._books.slack(slot, level)[domains],
            sum(wanted[c] for c in slot)) for slot in slots])
        joint = self._books.slack([*wanted], level)[domains]
        prices = self._prices(star, level, domains)
        target = self._target(star, level, domains, [
            sum(wanted[c] for c in slot) for slot in slots], joint)
        if sum(wanted.values()) <= joint.max() or target is not None:
            prices = prices * 0
        if target is not None:
            more = np.minimum(more, target)
        sorts = Sorts(star, domains, there + more,
                      there.sum(axis=1) + joint, np.ones(len(domains)))
        worth, mixes = sorts.best(prices)
        new = (mixes - there).clip(0)
        gain = (sorts.pairs(domains, there + new)
                - sorts.pairs(domains, there))
        best = np.flatnonzero((gain > 0) & (
            worth >= worth.max() * (1 - _ALIKE)))
        if not gain.max():
            new = as_many(more, joint)
            total = new.sum(axis=1)
            best = np.flatnonzero(total == total.max())
        if len(best) > 1:
            scores = [self._score(level, int(domains[n]), wanted,
                                  int(new[n].sum())) for n in best]
            best = best[[int(np.argmax(scores))]]
        return int(domains[best[0]]), balanced(
            star, new[best[0]].tolist(), more[best[0]].tolist())

    def _prices(self, star: Star, level: str,
                domains: np.ndarray) -> np.ndarray:
        """A little less than what members are worth elsewhere: mixes that
        are worth just that are wanted."""
        return (1 - _LESS) * self._near.prices(star, level)[
            self._place(level, domains)]

    def _place(self, level: str, domains: np.ndarray) -> np.ndarray:
        """Cells of domains of a fine level."""
        of_host = self._kinds.table.division(level).of_host
        place = np.zeros(of_host.max() + 1, dtype=np.int64)
        place[of_host[of_host >= 0]] = self._near.grid.of[of_host >= 0]
        return place[domains]

    def _target(self, star: Star, level: str, domains: np.ndarray,
                left: list[int], joint: np.ndarray) -> np.ndarray | None:
        """How many of each node the next domain is to have, if it is known
        for all the domains of its cell at once."""
        bundle = self._near.bundle(star, level)
        if bundle is None:
            return None
        place = int(self._place(level, domains)[0])
        found = bundle.first(place, left, int(joint.max()))
        return None if found is None or not any(found) else np.array(found)

    def _score(self, level: str, domain: int, wanted: Wanted,
               number: int) -> float:
        """More where few hosts hold so many members."""
        hosts = np.flatnonzero(
            self._kinds.table.division(level).of_host == domain)
        fit = np.sort(self._fit(hosts, wanted))[::-1]
        before = np.cumsum(fit) - fit
        return float((fit[before < number] ** 2).sum())

    def _fit(self, hosts: np.ndarray, wanted: Wanted) -> np.ndarray:
        """How many members of average size each host holds."""
        number = max(1, sum(wanted.values()))
        mean = sum(self._kinds.amounts[self._crews[c].kind] * n
                   for c, n in wanted.items()) / number
        found = self._books.slack([*wanted], HOST)[
            self._kinds.table.division(HOST).of_host[hosts]].astype(float)
        for column in np.flatnonzero(mean).tolist():
            found = np.minimum(
                found, self._books.free[hosts, column] / mean[column])
        return found

    def _of_mix(self, star: Star, mix: Sequence[int],
                wanted: Wanted) -> Wanted:
        """Who talks to most goes first, so that they come together."""
        found: Wanted = {}
        for node, number in zip(star.nodes, mix):
            slot = {c: n - found.get(c, 0) for c, n in wanted.items()
                    if node in self._crews[c].nodes}
            for rich in sorted({len(self._crews[c].nodes) for c in slot},
                               reverse=True):
                share = shared_out(int(number), {
                    c: n for c, n in slot.items()
                    if len(self._crews[c].nodes) == rich})
                for c, here in share.items():
                    found[c] = found.get(c, 0) + here
                    number -= here
        return found

    def _pack(self, star: Star, hosts: np.ndarray, wanted: Wanted) -> Wanted:
        """Teams of one of each node, the largest first, on as few hosts as
        can hold them all, each where most is left."""
        size = self._sizes(wanted)
        teams = self._teams(star, wanted, size)
        fit = self._fit(hosts, wanted)
        order = hosts[np.argsort(-fit, kind='stable')]
        opened = 1 + int(np.searchsorted(
            np.cumsum(np.sort(fit)[::-1]), sum(wanted.values())))
        for team in teams:
            self._deadline.check()
            # Where the others are too full for it, more hosts are opened.
            for number in range(min(opened, len(order)), len(order) + 1):
                here = order[:number] if number <= opened else (
                    order[number - 1:number])
                if self._seat(team, here, size, wanted):
                    opened = max(opened, number)
                    break
            else:
                for c in team:
                    self._seat([c], order, size, wanted)
        return wanted

    def _sizes(self, wanted: Wanted) -> np.ndarray:
        """[resource class]: what one unit weighs, by how many are needed."""
        needed = sum(self._kinds.amounts[self._crews[c].kind] * n
                     for c, n in wanted.items())
        return 1 / np.maximum(needed, 1e-3)

    def _teams(self, star: Star, wanted: Wanted,
               size: np.ndarray) -> list[list[int]]:
        """Crews of the members, one of each node as long as there are."""
        weight = {c: float((self._kinds.amounts[self._crews[c].kind]
                            * size).max(initial=0)) for c in wanted}
        sides, left = [], dict(wanted)
        for node in star.nodes:
            mine = sorted((c for c in left if node in self._crews[c].nodes),
                          key=lambda c: (-weight[c], c))
            sides.append([c for c in mine for _ in range(left.pop(c))])
        teams = [[c for c in team if c is not None]
                 for team in itertools.zip_longest(*sides)]
        return sorted(teams, key=lambda team: -sum(
            weight[c] for c in team))

    def _seat(self, team: Sequence[int], hosts: np.ndarray,
              size: np.ndarray, wanted: Wanted) -> bool:
        """Put all of the team on the host that has most left."""
        left = (self._books.free[hosts] * size).min(axis=1, initial=np.inf)
        for host in hosts[np.argsort(-left, kind='stable')].tolist():
            if self._books.seat_all(team, host):
                for c in team:
                    self.taken[c][host] = self.taken[c].get(host, 0) + 1
                    wanted[c] -= 1
                    self._left[c] -= 1
                return True
        return False
