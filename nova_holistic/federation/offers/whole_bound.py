# SPDX-License-Identifier: Apache-2.0
"""A bound of the objective for a group that one cloud has as a whole.

A parent does not split a group that one child can take. Every placement that
it may choose is then a plan of one of the children, and the lowest of their
bounds is a bound of all of them. For a group in several clouds, no bound is
known: two parts in one cloud may share hosts, so that the bounds of single
parts do not add up.
"""

from collections.abc import Iterable

from nova_holistic.federation.child import Offer, RefusalKind
from nova_holistic.federation.offers.choice import Choice
from nova_holistic.federation.offers.offer_book import Answer, OfferBook
from nova_holistic.federation.offers.problem import Problem

EXCLUDED = (RefusalKind.UNPLACEABLE, RefusalKind.FORBIDDEN,
            RefusalKind.DENIED, RefusalKind.INVALID)
"""A child that refuses for these reasons has no plan for this user."""


def whole_bound(problem: Problem, book: OfferBook, choice: Choice,
                threshold: float | None,
                clouds: Iterable[str]) -> float | None:
    """The lower bound: no plan of these clouds for the whole group, with as
    few violations as the choice, has a lower value of the objective.

    :param threshold: threshold of the step that made the choice. The offers of
        this step cover only plans without the violations that it excludes
    :param clouds: clouds among which the parent may choose
    :returns: None: not proved, because the choice is in several clouds, or a
        child received no request, did not answer or has proved no bound
    """
    if problem.division.separates or len(choice.sets) > 1 or (
            threshold is not None and choice.violations > 0):
        return None
    bounds = [_bound(book.answer(cloud, problem.whole, threshold))
              for cloud in clouds if problem.may_be_whole_in(cloud)]
    if None in bounds:
        return None
    return min(each for each in bounds if each is not None)


def _bound(answer: Answer | None) -> float | None:
    """The bound of one child; None: not proved; infinite: it has no plan."""
    if isinstance(answer, Offer):
        return None if answer.bound is None else min(
            answer.bound, answer.value)
    if answer is not None and answer.kind in EXCLUDED:
        return float('inf')
    return None
