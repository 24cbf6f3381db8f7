# SPDX-License-Identifier: Apache-2.0
"""The offers for one group. Each offer is requested once, until it expires."""

from collections.abc import Callable, Iterable, Sequence

from nova_holistic.federation.child import Offer, Refusal, RefusalKind
from nova_holistic.federation.offers.choice import Set
from nova_holistic.federation.offers.dependencies import Dependencies
from nova_holistic.federation.offers.hardening import harden
from nova_holistic.federation.offers.positions import translated
from nova_holistic.federation.offers.problem import Problem
from nova_holistic.model.plan import Reason

Answer = Offer | Refusal

_CLOSED = (RefusalKind.UNREACHABLE, RefusalKind.FORBIDDEN)
"""A child that refuses an offer for these reasons gets no other request."""
_LATE = 'cloud {}: the time limit was reached before the request'


class OfferBook:
    """Requests offers, several at the same time, and keeps the answers.

    :ivar requests: number of offers that were requested
    """

    def __init__(self, problem: Problem, objective: str | None,
                 seconds: float, dependencies: Dependencies,
                 left: Callable[[], float]):
        """
        :param objective: None: the default of each child
        :param seconds: time limit of one request
        :param left: returns the seconds until the time limit of all requests
        """
        self.requests = 0
        self._problem = problem
        self._objective = objective
        self._seconds = seconds
        self._history = dependencies.history
        self._clock = dependencies.clock
        self._left = left
        self._map_all = dependencies.map_all
        self._answers: dict[tuple, Answer] = {}
        self._away: dict[str, Refusal] = {}

    def request(self, wanted: Iterable[tuple[str, Set]],
                threshold: float | None = None) -> None:
        """Request all these offers that are missing or have expired.

        :param wanted: clouds, each with its parts
        :param threshold: see ``hardening``
        """
        missing = {_key(cloud, parts, threshold): (cloud, parts)
                   for cloud, parts in wanted
                   if self.answer(cloud, parts, threshold) is None}
        self.requests += len(missing)
        answers = self._map_all(
            lambda each: self._requested(*each, threshold), missing.values())
        for (key, (cloud, _)), answer in zip(missing.items(), answers):
            self._answers[key] = answer
            self._history.record(cloud, isinstance(answer, Offer))
            if isinstance(answer, Refusal) and answer.kind in _CLOSED:
                self._away[cloud] = answer

    def answer(self, cloud: str, parts: Set,
               threshold: float | None = None) -> Answer | None:
        """The answer of a cloud; None: no offer was requested yet, or the
        offer has expired."""
        if cloud in self._away:
            return self._away[cloud]
        found = self._answers.get(_key(cloud, parts, threshold))
        if isinstance(found, Offer) and found.expires < self._clock():
            return None
        return found

    def offer(self, cloud: str, parts: Set,
              threshold: float | None = None) -> Offer | None:
        """The offer of a cloud; None: see ``answer``, or a refusal."""
        found = self.answer(cloud, parts, threshold)
        return found if isinstance(found, Offer) else None

    def refuse(self, refusal: Refusal, parts: Set) -> None:
        """Record that a child refused to create the parts that it had offered.
        Its other offers are no longer used."""
        # The user had the rights that the document needs when the child made
        # the offer. A denied create request thus concerns all documents.
        if refusal.kind in (*_CLOSED, RefusalKind.DENIED):
            self._away[refusal.child] = refusal
        for key, answer in list(self._answers.items()):
            if key[:2] == _key(refusal.child, parts, None)[:2]:
                self._answers[key] = refusal
            elif key[0] == refusal.child and isinstance(answer, Offer):
                # The capacity of the child has changed since this offer.
                del self._answers[key]
        self._answers[_key(refusal.child, parts, None)] = refusal

    def refusals(self) -> tuple[Refusal, ...]:
        """The first refusal of each child, and of each kind of refusal."""
        found: dict[tuple[str, RefusalKind], Refusal] = {}
        for answer in (*self._away.values(), *self._answers.values()):
            if isinstance(answer, Refusal):
                found.setdefault((answer.child, answer.kind), answer)
        return tuple(found.values())

    def not_accepted(self) -> Sequence[str]:
        """Names of all clouds that received a request, if none of them accepts
        a request of the user, whose credentials it refuses or who has no right
        to the group there; otherwise, empty."""
        clouds = sorted({str(key[0]) for key in self._answers})
        return clouds if all(
            self._has_no_right(self._away.get(key[0], answer))
            for key, answer in self._answers.items()) else ()

    @staticmethod
    def _has_no_right(answer: Answer) -> bool:
        return isinstance(answer, Refusal) and answer.kind in (
            RefusalKind.FORBIDDEN, RefusalKind.DENIED)

    def offering(self) -> set[str]:
        """Names of the clouds that have made an offer."""
        return {key[0] for key, answer in self._answers.items()
                if isinstance(answer, Offer)}

    def is_unavailable(self, cloud: str) -> bool:
        """Whether the child does not answer, or does not accept the user."""
        return cloud in self._away

    def _requested(self, cloud: str, parts: Set,
                   threshold: float | None) -> Answer:
        left = self._left()
        if left <= 0:
            return Refusal(cloud, RefusalKind.UNKNOWN, (Reason(
                '', _LATE.format(cloud), names=(), hidden=(),
                public=_LATE.format(cloud)),))
        document = self._problem.document(parts, cloud)
        found = self._problem.candidates[cloud].child.offer(
            harden(document, threshold), self._objective,
            min(self._seconds, left))
        if isinstance(found, Refusal):
            return translated(self._problem, found, document)
        return found


def _key(cloud: str, parts: Set, threshold: float | None) -> tuple:
    return cloud, frozenset(parts.items()), threshold
