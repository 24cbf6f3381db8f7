# SPDX-License-Identifier: Apache-2.0
"""The number of copies of a group for which the clouds have capacity."""

from collections.abc import Callable, Iterable

from nova_holistic.federation.child import Offer, Refusal
from nova_holistic.federation.offers.problem import Problem
from nova_holistic.federation.offers.whole_bound import EXCLUDED
from nova_holistic.federation.splitting.kinds import Kind
from nova_holistic.model.relaxations import Headroom

Answer = Offer | Refusal
Ask = Callable[[Iterable[tuple[str, dict[int, int]]]], list[Answer]]
"""Requests offers with headroom of clouds, each for some parts."""


def headroom(problem: Problem, ask: Ask, planned: bool) -> Headroom:
    """Bounds on the number of copies that fit at the same time.

    At least, each cloud takes the copies that fit into it as a whole. At most,
    the clouds together take the parts of the copies: in every placement, a
    cloud has no more parts of a kind than fit into it alone.

    :param ask: its answers are in the order of the requests
    :param planned: whether a choice for one copy is known
    :returns: the upper bound is None if a cloud does not answer or has proved
        no bound
    """
    # The answers for the whole group are then those for its only part.
    single = not problem.division.separates and (
        len(problem.kinds) == 1 and problem.kinds[0].number == 1)
    upper = [_most(problem, ask, k) for k in range(len(problem.kinds))
             ] if not single else []
    whole = [] if problem.division.separates else ask(
        (cloud, dict(problem.whole)) for cloud in problem.candidates
        if problem.may_be_whole_in(cloud))
    if single:
        upper = [_added([_at_most(each) for each in whole])]
    least = max(sum(_at_least(each) for each in whole), int(planned))
    known = [each for each in upper if each is not None]
    most = min(known) if known else None
    # The usage of a cloud may change between two answers.
    return Headroom(least if most is None else min(least, most), most)


def _most(problem: Problem, ask: Ask, k: int) -> int | None:
    """The number of copies for whose parts of one kind the clouds have
    capacity at most."""
    kind = problem.kinds[k]
    parts = _added([_at_most(each) for each in ask(
        (cloud, {k: 1}) for cloud in problem.candidates
        if cloud in kind.clouds)])
    if parts is None:
        return None
    # Parts of one copy may share a domain that an exclusive policy closes to
    # others. A part alone closes its own domain, so that the clouds have
    # capacity for fewer parts of different copies than of the same copy.
    return parts if _may_share(problem, kind) else parts // kind.number


def _may_share(problem: Problem, kind: Kind) -> bool:
    """Whether an exclusive policy applies to several parts of this kind."""
    for scope in problem.division.group.scopes():
        if any(policy.closes is not None for policy in scope.group.policies):
            inside = {member.path for member in scope.members}
            if sum(not inside.isdisjoint(part.paths)
                   for part in kind.parts) > 1:
                return True
    return False


def _added(bounds: list[int | None]) -> int | None:
    known = [each for each in bounds if each is not None]
    return sum(known) if len(known) == len(bounds) else None


def _at_least(answer: Answer) -> int:
    return (answer.headroom or 0) if isinstance(answer, Offer) else 0


def _at_most(answer: Answer) -> int | None:
    if isinstance(answer, Offer):
        return answer.most
    return 0 if answer.kind in EXCLUDED else None
