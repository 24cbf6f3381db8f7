# SPDX-License-Identifier: Apache-2.0
"""A child that already has a part of the group."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta

from nova_holistic.federation.child import (
    Child, Document, Offer, Refusal, RefusalKind)
from nova_holistic.federation.results import Candidate

_LIFETIME = timedelta(hours=1)


class UpdatedChild:
    """Makes offers for the members that an update adds.

    An offer does not consider the existing members of the child, because the
    API has no dry run of an update. The update itself considers them. If the
    child refuses the update, the search continues without the offer.

    :ivar child: the child itself
    """

    def __init__(self, child: Child, loses: bool,
                 clock: Callable[[], datetime]):
        """
        :param loses: whether the update also removes members from the child.
            Only the update itself then shows whether the new members fit
        :param clock: returns naive UTC
        """
        self.name = child.name
        self.child = child
        self._loses = loses
        self._clock = clock

    def offer(self, document: Document, objective: str | None,
              seconds: float,
              extras: Collection[str] = ()) -> Offer | Refusal:
        """See ``Child.offer``."""
        if not (document.get('members') or document.get('groups')):
            return self._own(objective, perfect=True)
        found = self.child.offer(document, objective, seconds, extras)
        if self._loses and isinstance(found, Refusal) and (
                found.kind is RefusalKind.UNPLACEABLE):
            return self._own(objective, perfect=False)
        return found

    def _own(self, objective: str | None, perfect: bool) -> Offer:
        return Offer(self.name, 0.0, objective or '', 0.0,
                     0.0 if perfect else None, perfect, None,
                     self._clock() + _LIFETIME)


def with_part(candidate: Candidate, loses: bool,
              clock: Callable[[], datetime]) -> Candidate:
    """The candidate for an update of its part. It has no facts, because facts
    may be out of date, and must not exclude a cloud that has a part.

    :param loses: see ``UpdatedChild``
    """
    return replace(candidate, facts=None, child=UpdatedChild(
        candidate.child, loses, clock))  # type: ignore[arg-type]
