# SPDX-License-Identifier: Apache-2.0
"""Places one group in one child or, in parts, in several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nova_holistic.federation.offers.strategy import Strategy
from nova_holistic.federation.results import (
    Candidate, Offered, Placed, Refused, Request, Unknown)
from nova_holistic.federation.saga.journal import Journal
from nova_holistic.model.policy_types import PolicyTypes

CLOUD = 'cloud'
"""The outermost level: its domains are the children."""


@dataclass(frozen=True, slots=True)
class Limits:
    """
    :ivar commit_lease: seconds; lease of a part until all parts exist
    :ivar max_tries: number of commits that are started at most
    :ivar offer_seconds: time limit of one request for an offer
    :ivar offer_lifetime: seconds after which an offer is requested again
    :ivar pause: longest random wait in seconds before a second try
    """

    commit_lease: int = 120
    max_tries: int = 5
    offer_seconds: float = 60.0
    offer_lifetime: float = 60.0
    pause: float = 1.0


class FederatedPlanner:
    """Asks children for offers, chooses, and commits the choice.

    The planner of one request; ``map_all`` asks several children at the same
    time.
    """

    def __init__(self, candidates: Sequence[Candidate], strategy: Strategy,
                 limits: Limits, policy_types: PolicyTypes, *,
                 clock: Callable[[], datetime], timer: Callable[[], float],
                 sleep: Callable[[float], None],
                 map_all: Callable[..., Any] = map):
        """
        :param clock: returns naive UTC
        :param timer: returns seconds since an arbitrary time
        :param map_all: like ``map``; may work on several items at a time
        """
        self._candidates = candidates
        self._strategy = strategy
        self._limits = limits
        self._policy_types = policy_types
        self._clock = clock
        self._timer = timer
        self._sleep = sleep
        self._map_all = map_all

    def place(self, request: Request,
              journal: Journal) -> Placed | Refused | Unknown:
        """
        :raises InvalidDocument: a policy of the level of clouds cannot be
            fulfilled as it is written, at its position in the document
        :raises JournalRefused: the group was deleted; every part is undone,
            or in the journal as UNDOING
        """
        raise NotImplementedError

    def offer(self, request: Request) -> Offered | Refused | Unknown:
        """A dry run: what ``place`` would do now. Nothing is created.

        :raises InvalidDocument: see ``place``
        """
        raise NotImplementedError
