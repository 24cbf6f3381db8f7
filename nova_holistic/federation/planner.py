# SPDX-License-Identifier: Apache-2.0
"""Places one group in one child or, in parts, in several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oslo_log import log as logging
import tenacity

from nova_holistic.documents.validation import listed
from nova_holistic.federation.child import Child, RefusalKind
from nova_holistic.federation.offers.choice import Choice
from nova_holistic.federation.offers.dependencies import Dependencies
from nova_holistic.federation.offers.offer_book import OfferBook
from nova_holistic.federation.offers.plan_extras import PlanExtras
from nova_holistic.federation.offers.positions import translated
from nova_holistic.federation.offers.problem import Problem
from nova_holistic.federation.offers.search import Search
from nova_holistic.federation.offers.strategy import Strategy
from nova_holistic.federation.results import (
    Candidate, Offered, Placed, PlacedPart, Refused, Request, Unknown)
from nova_holistic.federation.saga.journal import Journal
from nova_holistic.federation.saga.saga import (
    Failed, Order, orders, Saga, Terms)
from nova_holistic.model.plan import Reason

LOG = logging.getLogger(__name__)

Commit = Callable[[Sequence[Order]], tuple[PlacedPart, ...] | Failed]
"""Receives the parts of a choice, in an order that all parents share."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the placement of one group.

    :ivar commit_lease: seconds; lease of a part until all parts exist
    :ivar max_tries: maximum number of commits
    :ivar offer_seconds: time limit of one request for an offer, and of one
        create request
    :ivar pause: longest random wait in seconds before the second try; it
        doubles with every further try
    """

    commit_lease: int = 120
    max_tries: int = 5
    offer_seconds: float = 60.0
    pause: float = 1.0


class FederatedPlanner:
    """Requests offers of children, chooses, and commits the choice.

    :ivar requests: number of offers that were requested
    :ivar timer: returns seconds of a monotonic clock
    """

    def __init__(self, candidates: Sequence[Candidate], strategy: Strategy,
                 limits: Limits, dependencies: Dependencies):
        self.requests = 0
        self.timer = dependencies.timer
        self._candidates = candidates
        self._strategy = strategy
        self._limits = limits
        self._dependencies = dependencies

    def place(self, request: Request,
              journal: Journal) -> Placed | Refused | Unknown:
        """Place a group: create all its parts in children, or none.

        :raises InvalidDocument: no parent can satisfy a rule of the level of
            clouds, or a location names an unknown cloud; at its position in
            the document
        :raises JournalRefused: the group was deleted; every part is undone,
            or in the journal as UNDOING
        """
        return self.place_with(request, self._saga(request, journal).commit)

    def place_with(self, request: Request,
                   commit: Commit) -> Placed | Refused | Unknown:
        """Place a group with another commit.

        :param commit: creates all parts in their clouds, or none
        :raises InvalidDocument: see ``place``
        """
        work = _Work(self, request)
        if work.impossible:
            return work.impossible
        for number in range(1, self._limits.max_tries + 1):
            choice = work.search()
            if choice is None:
                break
            done = commit(work.orders(choice, number))
            if not isinstance(done, Failed):
                return Placed(done, choice.violations, number)
            work.note(done, choice)
            if not work.in_time() or number == self._limits.max_tries:
                work.undecided = True
                break
            self._dependencies.sleep(_pause(number, self._limits.pause))
        return work.refusal()

    def offer(self, request: Request) -> Offered | Refused | Unknown:
        """The result of a dry run of ``place``, which creates nothing.

        :raises InvalidDocument: see ``place``
        """
        work = _Work(self, request)
        if work.impossible:
            return work.impossible
        choice = work.search()
        if choice is None:
            return work.refusal()
        paths = work.problem.paths(choice.sets)
        first = next(iter(choice.offers.values()))
        return Offered(tuple(sorted(paths.items())), choice.violations,
                       first.objective, choice.value, choice.bound)

    def extras(self, request: Request) -> PlanExtras:
        """The answers that a client may request in addition to an offer.

        :raises InvalidDocument: see ``place``
        """
        dependencies = self._dependencies
        end = self.timer() + request.seconds
        return PlanExtras(
            Problem.of(request.document, self._candidates,
                       dependencies.policy_types), request.objective,
            lambda: min(self._limits.offer_seconds, end - self.timer()),
            dependencies.map_all)

    def _saga(self, request: Request, journal: Journal) -> Saga:
        limits = self._limits
        return Saga(Terms(request.objective, request.lease,
                          limits.commit_lease, limits.offer_seconds),
                    journal, self._dependencies.clock)


class _Work:
    """The work on one request.

    :ivar impossible: the answer, if the locations exclude every cloud
    :ivar undecided: whether the tries or the time ran out
    """

    def __init__(self, planner: FederatedPlanner, request: Request):
        self.undecided = False
        self._planner = planner
        self._request = request
        self._tries = 0
        dependencies = planner._dependencies
        self._end = dependencies.timer() + request.seconds
        self.problem = Problem.of(
            request.document, planner._candidates, dependencies.policy_types,
            request.kept)
        self._book = OfferBook(
            self.problem, request.objective, planner._limits.offer_seconds,
            dependencies, self._left)
        self.impossible = self._impossible()

    def in_time(self) -> bool:
        return self._left() > 0

    def _left(self) -> float:
        """Seconds until the time limit."""
        return self._end - self._planner._dependencies.timer()

    def search(self) -> Choice | None:
        search = Search(
            self.problem, self._planner._strategy, self._book,
            self._planner._dependencies, self.in_time)
        choice = search.run()
        self.undecided = search.undecided
        self._planner.requests = self._book.requests
        return choice

    def orders(self, choice: Choice, number: int) -> tuple[Order, ...]:
        """The parts of the choice.

        :param number: number of the try
        """
        request = self._request
        self._tries = number
        paths = self.problem.paths(choice.sets)
        children: dict[str, Child] = {
            name: self.problem.candidates[name].child for name in paths}
        return orders(
            children, paths,
            {name: self.problem.documents.document(inside, name)
             for name, inside in paths.items()},
            # A parent that lost its table checks with this number whether it
            # has found all parts.
            f'{request.key}-{number}.{len(paths)}',
            not self.problem.division.group.is_elastic)

    def note(self, failed: Failed, choice: Choice) -> None:
        """Record the failure, so that the next search does not use the offer.
        """
        name = failed.order.child.name
        LOG.info('Try %d to place group %s failed in cloud %s (%s): %s',
                 self._tries, self._request.key, name, failed.refusal.kind,
                 '; '.join(r.message for r in failed.refusal.reasons))
        self._book.refuse(translated(
            self.problem, failed.refusal, failed.order.document),
            choice.sets[name])

    def refusal(self) -> Refused | Unknown:
        refusals = self._book.refusals()
        reasons = tuple(dict.fromkeys(
            reason for each in refusals for reason in each.reasons))
        closed = self._book.not_accepted()
        if closed:
            # The clouds may accept other credentials later.
            reasons = (_reason(
                '', 'no cloud accepts the request with the rights of the user '
                f'there ({listed(closed)}), and so no cloud has decided '
                'whether the group fits; the answer of each cloud follows'),
                *reasons)
        elif not reasons:
            reasons = (_reason(
                '', 'the clouds have offers for the parts of the group, and '
                'no combination of them satisfies its policies'),)
        undecided = self.undecided or bool(closed) or any(
            each.kind in (RefusalKind.UNREACHABLE, RefusalKind.UNKNOWN)
            for each in refusals)
        return (Unknown if undecided else Refused)(
            reasons, refusals, self._tries)

    def _impossible(self) -> Refused | None:
        if not self._planner._candidates:
            return Refused((_reason('', 'no cloud is configured for this '
                                    'user'),))
        members = self.problem.without_possible_cloud()
        return Refused((_reason(
            ', '.join(members)[:255],
            'these members must be in one cloud, and their locations name '
            'different clouds'),)) if members else None


def _reason(at: str, text: str) -> Reason:
    return Reason(at, text, names=(), hidden=(), public=text)


def _pause(number: int, longest: float) -> float:
    """A random wait in seconds, so that two parents do not retry at the same
    times."""
    state = tenacity.RetryCallState(None, None, (), {})  # type: ignore
    state.attempt_number = number
    return tenacity.wait_random_exponential(multiplier=longest)(state)
