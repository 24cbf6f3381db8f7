# SPDX-License-Identifier: Apache-2.0
"""Answers that a client may request in addition to a plan."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nova_holistic.documents.relaxations import headroom_to_document
from nova_holistic.federation.child import Offer, Refusal, RefusalKind
from nova_holistic.federation.offers.headroom import headroom
from nova_holistic.federation.offers.problem import Problem
from nova_holistic.federation.offers.relaxations import relaxations


class PlanExtras:
    """Requests headroom and relaxations of the clouds.

    Facts exclude no cloud, because facts may be out of date.
    """

    def __init__(self, problem: Problem, objective: str | None,
                 seconds: Callable[[], float],
                 map_all: Callable[..., Any] = map):
        """
        :param seconds: returns the time limit of one request
        :param map_all: like ``map``; may work on several items at the same
            time
        """
        self._problem = problem
        self._objective = objective
        self._seconds = seconds
        self._map_all = map_all

    def headroom(self, planned: bool) -> Mapping[str, Any]:
        """The key ``headroom`` of a plan document.

        :param planned: whether a choice for one copy is known
        """
        return headroom_to_document(headroom(
            self._problem, lambda wanted: self._asked(wanted, 'headroom'),
            planned))

    def relaxations(self) -> Mapping[str, Any] | None:
        """The key ``relaxations`` of a plan document; None: no cloud has found
        any, or the rules require several clouds."""
        problem = self._problem
        if problem.division.separates:
            return None
        return relaxations(problem, self._asked(
            ((name, dict(problem.whole)) for name in problem.candidates
             if problem.may_be_whole_in(name)), 'relaxations'))

    def _asked(self, wanted: Iterable[tuple[str, dict[int, int]]],
               extra: str) -> list[Offer | Refusal]:
        return list(self._map_all(
            lambda each: self._offer(*each, extra), list(wanted)))

    def _offer(self, cloud: str, parts: Mapping[int, int],
               extra: str) -> Offer | Refusal:
        seconds = self._seconds()
        if seconds <= 0:
            return Refusal(cloud, RefusalKind.UNKNOWN)
        return self._problem.candidates[cloud].child.offer(
            self._problem.document(parts, cloud), self._objective, seconds,
            (extra,))
