# SPDX-License-Identifier: Apache-2.0
"""Combines offers for single parts: the integer program chooses, and the
children confirm the choice.

Parts that fit alone may not fit together. A child therefore makes an offer
for the chosen parts together. If it refuses, this set of parts is excluded,
and the program is solved again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from nova_holistic.federation.child import Offer, Refusal, RefusalKind
from nova_holistic.federation.errors import FederationError
from nova_holistic.federation.offers.choice import Choice, Set
from nova_holistic.federation.offers.offer_book import OfferBook
from nova_holistic.federation.offers.problem import Problem
from nova_holistic.federation.splitting.cloud_rules import Row
from nova_holistic.federation.splitting.cloud_view import CloudView
from nova_holistic.federation.splitting.program import (
    Column, Counts, Measured, Price, Program, Refusal as Refused, Undecided)
from nova_holistic.solver.milp.backend import Backend

_MAX_ROUNDS = 50
"""Maximum number of solutions of the program for one set of children. After
them, the search is undecided."""
_SOLVER_SECONDS = 30.0
_TOLERANCE = 1e-6
_UNDECIDED = (RefusalKind.UNKNOWN, RefusalKind.UNREACHABLE)


class Combiner:
    """Chooses clouds in one step of the threshold search.

    :param threshold: see ``hardening``
    :ivar undecided: whether a better choice may exist, or any choice if none
        was found
    """

    def __init__(self, problem: Problem, book: OfferBook, backend: Backend,
                 threshold: float | None = None):
        self.undecided = False
        self._problem = problem
        self._book = book
        self._backend = backend
        self._threshold = threshold
        self._rows = [_hardened(row, threshold)
                      for row in problem.division.rows]
        self._refused: list[Refused] = []
        self._measured: list[Measured] = []

    def best(self, clouds: Collection[str],
             eligible: Collection[str]) -> Choice | None:
        """The best choice of these clouds; None: none was found.

        :param clouds: clouds whose offers for single parts are in the book
        :param eligible: clouds over which members are spread evenly
        """
        best: Choice | None = None
        columns = self._columns(clouds)
        self._note_refusals_of_the_whole(clouds)
        for _ in range(_MAX_ROUNDS):
            try:
                found = self._program(columns, eligible).solve(
                    self._backend, _SOLVER_SECONDS)
            except Undecided:
                break
            if found is None or best is not None and (
                    found.violations >= best.violations - _TOLERANCE):
                return best
            sets = _sets(found.counts)
            if not self._confirmed(sets):
                continue
            choice = self._choice(sets, eligible)
            if best is None or choice.violations < best.violations:
                best = choice
            if not self._measure(choice, columns):
                return best
        self.undecided = True
        return best

    def _columns(self, clouds: Collection[str]
                 ) -> dict[tuple[int, str], Column]:
        found = {}
        for k, kind in enumerate(self._problem.kinds):
            for cloud in kind.clouds.intersection(clouds):
                offer = self._book.offer(cloud, {k: 1}, self._threshold)
                if offer is not None:
                    found[k, cloud] = Column(
                        offer.violations, offer.value, offer.most)
        return found

    def _note_refusals_of_the_whole(self, clouds: Collection[str]) -> None:
        known = {each.cloud for each in self._refused
                 if each.counts == self._problem.whole}
        for cloud in sorted(set(clouds) - known):
            if isinstance(self._book.answer(
                    cloud, self._problem.whole, self._threshold), Refusal):
                self._refused.append(Refused(cloud, self._problem.whole))

    def _program(self, columns: Mapping[tuple[int, str], Column],
                 eligible: Collection[str]) -> Program:
        return Program(
            self._problem.kinds, self._rows, columns,
            {name: Price(each.cost, each.order)
             for name, each in self._problem.candidates.items()},
            eligible, self._refused, self._measured)

    def _confirmed(self, sets: Mapping[str, Set]) -> bool:
        """Whether every child makes an offer for its parts together."""
        self._book.request(sets.items(), self._threshold)
        refused = {cloud: parts for cloud, parts in sets.items()
                   if self._offer(cloud, parts) is None}
        for cloud in refused:
            answer = self._book.answer(cloud, refused[cloud], self._threshold)
            if isinstance(answer, Refusal) and answer.kind in _UNDECIDED:
                self.undecided = True
        for cloud, parts in self._smallest_refused(refused).items():
            self._refused.append(Refused(cloud, parts))
        return not refused

    def _smallest_refused(self, refused: Mapping[str, Set]
                          ) -> dict[str, Set]:
        """Smaller sets that the children refuse, too, so that the program
        excludes more solutions.

        This is a binary search over sets with the same proportions, until the
        child takes the set with one part fewer.
        """
        small = {cloud: 0 for cloud in refused}
        large = {cloud: sum(parts.values())
                 for cloud, parts in refused.items()}
        sets = dict(refused)
        while open_ := [c for c in refused if large[c] - small[c] > 1
                        and not self._book.is_unavailable(c)]:
            tried = {c: _scaled(refused[c], (large[c] + small[c]) // 2)
                     for c in open_}
            self._book.request(tried.items(), self._threshold)
            for cloud, parts in tried.items():
                middle = (large[cloud] + small[cloud]) // 2
                if self._offer(cloud, parts) is None:
                    large[cloud], sets[cloud] = middle, parts
                else:
                    small[cloud] = middle
        return sets

    def _offer(self, cloud: str, parts: Set) -> Offer | None:
        return self._book.offer(cloud, parts, self._threshold)

    def _choice(self, sets: Mapping[str, Set],
                eligible: Collection[str]) -> Choice:
        offers = {}
        for cloud, parts in sets.items():
            offer = self._offer(cloud, parts)
            assert offer is not None
            offers[cloud] = offer
        return checked_choice(self._problem, sets, offers, eligible)

    def _measure(self, choice: Choice,
                 columns: Mapping[tuple[int, str], Column]) -> bool:
        """Record sets of parts whose violations together exceed the sum of
        those of the single parts; False: no such set exists."""
        found = False
        for cloud, parts in choice.sets.items():
            alone = sum(number * columns[k, cloud].violations
                        for k, number in parts.items())
            surplus = choice.offers[cloud].violations - alone
            if surplus > _TOLERANCE:
                self._measured.append(Measured(cloud, parts, surplus))
                found = True
        return found


def checked_choice(problem: Problem, sets: Mapping[str, Set],
                   offers: Mapping[str, Offer],
                   eligible: Collection[str]) -> Choice:
    """The choice, after a check of its rules about clouds.

    :raises FederationError: the choice violates a hard rule, so that the
        program has an error
    """
    clouds = problem.clouds_of(sets)
    view = CloudView(problem.seen, {*eligible, *sets})
    violated = view.violated_rules(clouds)
    if violated:
        raise FederationError(
            f'the choice of clouds is invalid: {violated[0].message}')
    cost = view.cost(clouds)
    return Choice(
        sets, offers, cost + sum(o.violations for o in offers.values()),
        cost == 0 and all(o.perfect for o in offers.values()))


def _sets(counts: Counts) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for (k, cloud), number in sorted(counts.items()):
        found.setdefault(cloud, {})[k] = number
    return found


def _scaled(parts: Set, total: int) -> Set:
    """A subset with this number of parts, in about the same proportions."""
    everything = sum(parts.values())
    found = {k: number * total // everything for k, number in parts.items()}
    rest: Sequence[int] = sorted(
        parts, key=lambda k: -(parts[k] * total % everything))
    for k in rest[:total - sum(found.values())]:
        found[k] += 1
    return {k: number for k, number in found.items() if number}


def _hardened(row: Row, threshold: float | None) -> Row:
    if threshold is None or row.weight is None or row.weight < threshold:
        return row
    return replace(row, weight=None)
