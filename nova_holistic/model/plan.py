# SPDX-License-Identifier: Apache-2.0
"""The result for a group: a plan, a proof that none exists, or neither."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.messages.marked_text import MarkedText


@dataclass(frozen=True, slots=True)
class Placement:
    """One member and its host."""

    member: str
    host: str
    node: str
    location: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectiveValue:
    """The value of the objective of a plan, and its proved bound.

    :ivar bound: lower limit of the value of plans with as few weighted
        violations
    :ivar gap: (value - bound) / value; 0 if both are 0
    """

    name: str
    value: float
    bound: float
    gap: float


@dataclass(frozen=True, slots=True)
class Preference:
    """The violations of one weighted policy.

    :ivar policy: its type
    :ivar at: path of its group, '' for the top-level group
    :ivar level: level of its domains; None if it has none or it is not known
    :ivar weight: cost of one violation; None if it is not known
    """

    policy: str
    at: str
    violations: int
    level: str | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class PreferenceCost:
    """The weighted violations of all preferences.

    :ivar bound: lower limit of the weighted violations of all plans
    :ivar gap: (value - bound) / value; 0 if both are 0
    """

    value: float
    bound: float
    gap: float


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a group cannot be placed. Reasons with equal texts are
    equal.

    :ivar at: path of the group or member concerned
    :ivar names: words of the message that are names of hosts or domains; None
        if they have not been searched for
    :ivar hidden: begin and end index of each of these names
    :ivar totals: parts of the message with totals of the cloud: begin and end
        index, and the text that users read instead
    :ivar public: text that users read instead of the message, if it was not
        written for them
    :ivar missing: paths of the members that a plan leaves out for this reason,
        although they are desired
    """

    at: str
    message: str
    names: tuple[str, ...] | None = field(default=None, compare=False)
    hidden: tuple[tuple[int, int], ...] | None = field(
        default=None, compare=False)
    public: str | None = field(default=None, compare=False)
    totals: tuple[tuple[int, int, str], ...] = field(
        default=(), compare=False)
    missing: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, at: str, text: str) -> 'Reason':
        """A reason with the names that are marked in the text. If the text
        is not marked, or may contain unmarked names, they must be searched
        later."""
        if not isinstance(text, MarkedText):
            return cls(at, text)
        return cls(at, str(text), text.names if text.whole else None,
                   text.hidden, totals=text.totals)

    @property
    def text(self) -> MarkedText:
        """The message with its known marks."""
        return MarkedText(self.message, self.hidden or (),
                          self.names is not None, self.totals)

    def to_row(self) -> dict[str, Any]:
        """Plain data in the form of the placement table."""
        return {'at': self.at, 'message': self.message,
                'totals': [list(span) for span in self.totals],
                **({} if self.names is None
                   else {'names': list(self.names)}),
                **({} if self.hidden is None
                   else {'hidden': [list(span) for span in self.hidden]}),
                **({} if self.public is None else {'public': self.public}),
                **({'missing': list(self.missing)} if self.missing else {})}


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan: every member and its host.

    :ivar seconds: time taken by step: snapshot, build, solve, total
    :ivar preference_cost: None if the group has no preferences, or if it is
        not known
    :ivar warnings: requirements of the group that the plan does not guarantee
    """

    group: str
    placements: tuple[Placement, ...]
    objective: ObjectiveValue
    preferences: tuple[Preference, ...] = ()
    seconds: Mapping[str, float] = field(
        default_factory=FrozenMapping, compare=False)
    preference_cost: PreferenceCost | None = None
    warnings: tuple[Reason, ...] = ()

    def hosts(self) -> dict[str, str]:
        """Member path to host name."""
        return {p.member: p.host for p in self.placements}


@dataclass(frozen=True, slots=True)
class Unplaceable:
    """A proof that no plan exists, as reasons.

    :ivar reasons: policies and requirements that cannot be satisfied together
    :ivar minimal: whether it is proved that all of them are necessary
    """

    reasons: tuple[Reason, ...]
    minimal: bool = True
    seconds: Mapping[str, float] = field(
        default_factory=FrozenMapping, compare=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """The search ended with neither a plan nor a proof."""

    message: str
    seconds: Mapping[str, float] = field(
        default_factory=FrozenMapping, compare=False)
