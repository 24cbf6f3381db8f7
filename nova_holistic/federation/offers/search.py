# SPDX-License-Identifier: Apache-2.0
"""Searches the children for the best choice.

Without any optimisation, every child receives a request for the whole group
and for each kind of part. If a search with optimisations finds nothing, they
are disabled in steps. An optimisation may therefore cost time, but never
prevents a result.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nova_holistic.federation.child import RefusalKind
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.federation.facts.pruning import current, exclusion
from nova_holistic.federation.offers.choice import Choice, Set
from nova_holistic.federation.offers.combiner import checked_choice, Combiner
from nova_holistic.federation.offers.dependencies import Dependencies
from nova_holistic.federation.offers.hardening import thresholds
from nova_holistic.federation.offers.offer_book import OfferBook
from nova_holistic.federation.offers.problem import Problem
from nova_holistic.federation.offers.strategy import Strategy
from nova_holistic.federation.offers.tiers import tiers
from nova_holistic.federation.offers.whole_bound import whole_bound
from nova_holistic.federation.results import Candidate

_NOTHING = Facts()


class Search:
    """One search. The book keeps the answers for the next search.

    :ivar undecided: whether the result could be different if all children
        answered, or if the search had more time
    """

    def __init__(self, problem: Problem, strategy: Strategy, book: OfferBook,
                 dependencies: Dependencies, in_time: Callable[[], bool]):
        self.undecided = False
        self._problem = problem
        self._strategy = strategy
        self._book = book
        self._history = dependencies.history
        self._backend = dependencies.backend
        self._in_time = in_time
        self._facts = {
            name: current(candidate.facts, dependencies.clock(),
                          strategy.facts_ttl)
            for name, candidate in problem.candidates.items()}

    def run(self) -> Choice | None:
        """The choice; None: no choice was found. If ``undecided`` is False,
        the children cannot take the group."""
        for pruning, top in self._relaxations():
            for tier in tiers([*self._problem.candidates.values()],
                              self._strategy.burst_share,
                              lambda each: self._facts[each.name]):
                names = self._ordered(tier, pruning)
                for threshold in self._thresholds():
                    if not self._in_time():
                        self.undecided = True
                        return None
                    found = _Step(self, names, threshold, top, pruning).run()
                    if found is not None:
                        return replace(found, bound=whole_bound(
                            self._problem, self._book, found, threshold,
                            [each.name for each in tier]))
        return None

    def _relaxations(self) -> Iterator[tuple[bool, int]]:
        """Whether to prune, and the limit ``top`` of the strategy or 0; the
        most restrictive pair is first."""
        strategy = self._strategy
        if strategy.pruning:
            if strategy.top:
                yield True, strategy.top
            yield True, 0
        elif strategy.top:
            yield False, strategy.top
        yield False, 0

    def _thresholds(self) -> Sequence[float | None]:
        return thresholds(self._problem.division.document) if (
            self._strategy.threshold) else (None,)

    def _ordered(self, tier: Sequence[Candidate],
                 pruning: bool) -> list[str]:
        names = [each.name for each in tier if not (
            pruning and self._is_excluded(each.name))]
        if self._strategy.likely_first:
            return self._history.likely_first(names)
        return names

    def _is_excluded(self, cloud: str) -> bool:
        """Whether facts or locations exclude every part."""
        return all(cloud not in kind.clouds or self.excludes(cloud, {k: 1})
                   for k, kind in enumerate(self._problem.kinds))

    def excludes(self, cloud: str, parts: Set) -> bool:
        """Whether the facts of the cloud exclude these parts."""
        facts = self._facts[cloud]
        return facts != _NOTHING and exclusion(
            self._problem.document(parts, cloud), facts) is not None

    def eligible(self) -> set[str]:
        """The clouds over which members are spread evenly: all clouds that
        answer this user and accept one of its documents. A cloud is not
        eligible if facts exclude every part and its refusal confirms this.
        """
        refused = {each.child for each in self._book.refusals()}
        invalid = {each.child for each in self._book.refusals()
                   if each.kind in (RefusalKind.INVALID, RefusalKind.DENIED)}
        # A cloud may accept the documents of some parts only.
        offering = self._book.offering()
        return {name for name in self._problem.candidates
                if not self._book.is_unavailable(name) and (
                    name in offering or name not in invalid and not (
                        name in refused and self._is_excluded(name)))}

    def stops(self, choice: Choice, threshold: float | None) -> bool:
        """Whether the search ends before all children have answered."""
        strategy = self._strategy
        if strategy.threshold and choice.perfect:
            return True
        if threshold is not None:
            return False
        if strategy.good_enough is not None and (
                choice.violations <= strategy.good_enough):
            return True
        return strategy.likely_first

    @property
    def in_batches(self) -> bool:
        strategy = self._strategy
        return (strategy.likely_first or strategy.threshold
                or strategy.good_enough is not None)


class _Step:
    """The search among some children, with some preferences as conditions.

    :param names: names of the children
    :param threshold: see ``hardening``
    :param top: see ``Strategy``; 0: all
    """

    def __init__(self, search: Search, names: Sequence[str],
                 threshold: float | None, top: int, pruning: bool):
        self._search = search
        self._pruning = pruning
        self._names = names
        self._threshold = threshold
        self._top = top
        self._problem: Problem = search._problem
        self._book: OfferBook = search._book
        self._combiner = Combiner(
            self._problem, self._book, search._backend, threshold)

    def run(self) -> Choice | None:
        if not self._search.in_batches:
            self._request_whole(self._names)
            self._request_parts(self._names)
            found = self._whole(self._names) or self._combined(self._names)
        else:
            found = self._in_batches()
        if self._combiner.undecided or any(
                each.kind in (RefusalKind.UNKNOWN, RefusalKind.UNREACHABLE)
                for each in self._book.refusals()):
            self._search.undecided = True
        return found

    def _in_batches(self) -> Choice | None:
        """Search in batches: first for offers for the whole group, then for
        offers for its parts."""
        found = None
        if not self._problem.division.separates:
            for names in self._batches():
                self._request_whole(names[1])
                found = self._whole(names[0])
                if found and self._search.stops(found, self._threshold):
                    return found
        if found is not None:
            return found
        for names in self._batches():
            self._request_parts(names[1])
            found = self._combined(names[0])
            if found and self._search.stops(found, self._threshold):
                return found
        return found

    def _batches(self) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """For each batch, all children up to its end, and the children of the
        batch."""
        size = max(1, self._search._strategy.batch)
        for end in range(size, len(self._names) + size, size):
            if self._search._in_time():
                yield self._names[:end], self._names[end - size:end]

    def _request_whole(self, names: Sequence[str]) -> None:
        if not self._problem.division.separates:
            self._request([(name, self._problem.whole) for name in names
                           if self._problem.may_be_whole_in(name)])

    def _request_parts(self, names: Sequence[str]) -> None:
        """Request offers for single parts. With ``top``, all children receive
        requests for the first kind of part, and the children with the best
        offers also for the other kinds."""
        numbers = range(len(self._problem.kinds))
        if self._top and len(numbers) > 1:
            first, *others = numbers
            self._request(self._parts(names, [first]))
            self._request(self._parts(self._best(names, first), others))
        else:
            self._request(self._parts(names, numbers))

    def _parts(self, names: Sequence[str], numbers: Sequence[int]
               ) -> list[tuple[str, Set]]:
        return [(name, {k: 1}) for name in names for k in numbers
                if name in self._problem.kinds[k].clouds]

    def _request(self, wanted: Sequence[tuple[str, Set]]) -> None:
        """Request these offers, except those that facts exclude."""
        self._book.request(
            [(name, parts) for name, parts in wanted if not (
                self._pruning and self._search.excludes(name, parts))],
            self._threshold)

    def _best(self, names: Sequence[str], k: int) -> list[str]:
        """The children with the best offers for a kind of part; children that
        may not take such a part remain."""
        offers = {name: offer for name in names if (offer := self._book.offer(
            name, {k: 1}, self._threshold)) is not None}
        best = sorted(offers, key=lambda name: (
            offers[name].violations, offers[name].value))[:self._top]
        return [name for name in names if name in best
                or name not in self._problem.kinds[k].clouds]

    def _whole(self, names: Sequence[str]) -> Choice | None:
        """The best offer for the whole group, unless the rules may require or
        prefer several clouds."""
        if self._problem.division.separates:
            return None
        eligible = self._search.eligible()
        choices = []
        for position, name in enumerate(names):
            offer = self._book.offer(
                name, self._problem.whole, self._threshold)
            if offer is not None:
                choice = checked_choice(
                    self._problem, {name: self._problem.whole},
                    {name: offer}, eligible)
                candidate = self._problem.candidates[name]
                choices.append((
                    (choice.violations, offer.value, candidate.cost,
                     candidate.order, position), choice))
        return min(choices, key=lambda each: each[0])[1] if choices else None

    def _combined(self, names: Sequence[str]) -> Choice | None:
        if not self._problem.division.separates and (
                len(self._problem.division.parts) == 1):
            # The whole group is the only part.
            return self._whole(names)
        return self._combiner.best(names, self._search.eligible())
