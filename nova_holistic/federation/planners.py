# SPDX-License-Identifier: Apache-2.0
"""The planner of each user, from the configuration."""

from collections.abc import Callable, Sequence
import dataclasses
from typing import Any

from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.facts.known_facts import KnownFacts
from nova_holistic.federation.offers.dependencies import Dependencies
from nova_holistic.federation.offers.strategy import Strategy
from nova_holistic.federation.planner import FederatedPlanner, Limits
from nova_holistic.federation.results import Candidate


class Planners:
    """Planners that differ only in the credentials of their children."""

    def __init__(self, conf: Any, children: UserChildren, facts: KnownFacts,
                 dependencies: Dependencies):
        options = conf.federation
        self._children = children
        self._facts = facts
        self._dependencies = dependencies
        self._order = {name: position for position, name
                       in enumerate(options.order)}
        self._strategy = Strategy(**{
            each.name: getattr(options, each.name)
            for each in dataclasses.fields(Strategy)})
        self._limits = Limits(
            commit_lease=options.commit_lease, max_tries=options.max_tries,
            offer_seconds=options.offer_seconds)

    @property
    def commit_terms(self) -> tuple[int, float]:
        """The lease of a part until all parts exist, and the time limit of a
        request that creates a part; in seconds."""
        return self._limits.commit_lease, self._limits.offer_seconds

    def of(self, user: User, prepare: Callable[[Candidate], Candidate]
           = lambda each: each) -> FederatedPlanner:
        """The planner of a user.

        :param prepare: returns the candidate that the planner uses in place of
            a candidate
        """
        return FederatedPlanner(
            [prepare(each) for each in self._candidates(user)],
            self._strategy, self._limits, self._dependencies)

    def _candidates(self, user: User) -> Sequence[Candidate]:
        facts = self._facts.all()
        return [Candidate(
            child, self._order.get(name, len(self._order)),
            self._children.entries[name].cost, facts.get(name))
            for name, child in self._children.of(user).items()]
