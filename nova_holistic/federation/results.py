# SPDX-License-Identifier: Apache-2.0
"""A request to the federation, and the forms of its answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nova_holistic.federation.child import (
    Child, ChildGroup, Document, Refusal)
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import Reason


@dataclass(frozen=True, slots=True)
class Candidate:
    """A child that may take the group, or a part of it.

    :ivar order: children with a lower number are used first; children with
        equal numbers have the same preference
    :ivar cost: cost of one server, in a unit that the operator selects
    :ivar facts: facts about the child; None: no facts are known
    """

    child: Child
    order: int = 0
    cost: float = 0.0
    facts: Facts | None = None

    @property
    def name(self) -> str:
        return self.child.name


@dataclass(frozen=True, slots=True)
class Request:
    """A request to place a group.

    :ivar objective: None: the default of each child
    :ivar lease: seconds; 0: no lease
    :ivar key: start of the idempotency keys of the parts, unique for each
        attempt: the identifier of the parent, the UUID of the group and a
        random number
    :ivar seconds: after this time, no further try is started
    :ivar kept: path of each member that a cloud already has, to its cloud
    """

    document: Document
    objective: str | None
    lease: int
    key: str
    seconds: float
    kept: Mapping[str, str] = FrozenMapping()


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """A part of a group that exists in a child.

    :ivar child: name of the child
    :ivar group: the group in the child
    :ivar paths: paths of the members, in the parent's group and in the child's
    """

    child: str
    group: ChildGroup
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """Every member is planned in a child, with the requested lease.

    :ivar violations: weighted violations of preferences, of all parts and of
        the level of clouds
    :ivar tries: number of commits that were started, including the last one
    """

    parts: tuple[PlacedPart, ...]
    violations: float = 0.0
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Refused:
    """Every child that answered has refused, or no combination of the offers
    satisfies the policies of the level of clouds.

    :ivar refusals: the last answers of the children
    """

    reasons: tuple[Reason, ...]
    refusals: tuple[Refusal, ...] = field(default=(), compare=False)
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither a placement nor a proof that none exists: a child did not
    answer, or the tries or the time ran out."""

    reasons: tuple[Reason, ...]
    refusals: tuple[Refusal, ...] = field(default=(), compare=False)
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Offered:
    """The answer to a dry run: the offers that would be committed.

    :ivar parts: name of the child to paths of the members
    :ivar violations: weighted violations of all parts and of the level of
        clouds
    :ivar objective: name of the objective
    :ivar value: value of the objective, added over the parts
    :ivar bound: no placement that the parent may choose now, with as few
        violations, has a lower value; None: not proved. Two parts in one
        cloud may share hosts, so that the bounds of single parts do not add
        up to a bound of a group in several clouds
    """

    parts: tuple[tuple[str, tuple[str, ...]], ...]
    violations: float
    objective: str
    value: float
    bound: float | None = None
