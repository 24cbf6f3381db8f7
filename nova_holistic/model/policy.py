# SPDX-License-Identifier: Apache-2.0
"""The interface of policies."""

import abc
from collections.abc import (
    Callable, Collection, Iterable, Mapping, Sequence)
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import freeze
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.model.messages.marked_text import MarkedText, Messages

if TYPE_CHECKING:
    from nova_holistic.model.group import Scope
    from nova_holistic.model.members.member import Member

Expression = Any
"""A linear expression of the program; in practice, PuLP's."""


@dataclass(frozen=True, slots=True)
class Violations:
    """The violations of a policy by a placement.

    :ivar count: 0 if the policy is satisfied; otherwise the number of
        violations in the policy's unit
    :ivar messages: one line per violation, with the domains and members; their
        names should be marked, so that they can be hidden without guesses, and
        the text is best created when it is read
    """

    count: int
    messages: Sequence[str] = ()

    @classmethod
    def of(cls, count: int, make: Callable[..., Iterable[str]],
           *args: Any) -> 'Violations':
        """With messages that are created when they are read, if any.

        :param make: called with the arguments; returns the messages
        """
        return cls(count, Messages(make, *args)) if count else cls(0)


class Encoder(Protocol):
    """The integer program in the view of a policy.

    Members with a fixed place enter every expression as constants.

    :ivar snapshot: its ``Host.servers`` does not count servers of the group
    """

    snapshot: Snapshot

    def domains(self, level: str) -> Sequence[Domain]:
        """Domains of the level that contain, or may contain, a member."""

    def count(self, scope: 'Scope', domain: Domain) -> Expression:
        """Number of the scope's members in the domain."""

    def outside(self, scope: 'Scope', level: str) -> Expression:
        """Number of the scope's members on hosts in no domain of the level."""

    def used(self, scope: 'Scope', domain: Domain) -> Expression:
        """1 if the domain holds a member of the scope, else 0."""

    def among(self, scope: 'Scope', hosts: Collection[Host]) -> Expression:
        """Number of the scope's members on any of the hosts."""

    def candidates(self, scope: 'Scope') -> Sequence[Host]:
        """Hosts that contain a member of the scope, or may contain one
        according to requirements and capacity."""

    def others(self, scope: 'Scope') -> 'Scope':
        """The members of the top-level group that are not in the scope."""

    def integer(self, name: str, upper: int) -> Expression:
        """A new variable in 0, 1, ... upper."""

    def continuous(self, name: str, lower: float, upper: float) -> Expression:
        """A new real variable; ``lower`` is 0."""

    def require(self, constraint: Expression) -> None:
        """Add a constraint for every plan.

        A comparison of plain numbers, which is True or False, is accepted.
        """

    def limit(self, scope: 'Scope', level: str, most: int) -> None:
        """Require that no domain of the level holds more than ``most``
        members of the scope.

        Equivalent to a constraint on the count of each domain, but a single
        entry for any number of domains.
        """

    def penalise(self, policy: 'Policy', scope: 'Scope',
                 violations: Expression) -> None:
        """Add policy.weight x violations to the cost of preferences."""


@dataclass(frozen=True, kw_only=True)
class Policy(abc.ABC):
    """A rule for all members below the group that declares it.

    A subclass is one file and one entry point in ``nova_holistic.policies``.
    Its check evaluates a finished placement; its encoding adds the policy to
    the solver's model; the two share no code.

    :ivar weight: None for a hard policy; otherwise the cost of one violation
    :ivar place: its position in the document, for error messages
    """

    type: ClassVar[str]
    keys: ClassVar[Mapping[str, Any]]
    """JSON schema of each key in addition to ``type`` and ``weight``."""
    required: ClassVar[Sequence[str]] = ()
    """Required keys."""
    default_weight: ClassVar[float | None] = None
    """The default weight if the document gives none."""
    local: ClassVar[bool] = False
    """Whether its check uses only links and the hosts of members: their
    location, zone, aggregates and servers. Such a policy can be checked
    without reading the whole cloud."""
    counts_all: ClassVar[bool] = True
    """Whether the hosts that it allows for some members may depend on the
    number and the hosts of all others. If not, members keep their alternates
    when other members are added or removed."""
    counts_servers: ClassVar[bool] = True
    """Whether it reads ``Host.servers``. If no policy of a group reads it, the
    value may be 1 for any number of servers, so that a new engine need not
    wait until it has counted them."""
    monotone: ClassVar[bool] = False
    """Whether a plan that satisfies it still does after a host was added to
    the cloud, and after a member was removed from the group."""

    weight: float | None = None
    place: str = field(default='', compare=False)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if 'check' in vars(cls) and 'allows_another' not in vars(cls):
            cls.allows_another = Policy.allows_another  # type: ignore

    @property
    def hard(self) -> bool:
        return self.weight is None

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'Policy':
        """Create the policy from keys that match the schema.

        Each key becomes a field with its own name, and a list becomes a tuple.
        A policy for which this is insufficient, or that needs more checks than
        a schema can express, overrides this method.

        :raises InvalidDocument: a condition that a schema cannot express is
            violated
        """
        if weight is None:
            weight = cls.default_weight
        return cls(weight=weight, place=place, **{
            key: freeze(value) for key, value in keys.items()})

    @property
    def title(self) -> str:
        """The name of the policy in messages and plans."""
        return self.type

    @property
    def summary(self) -> str:
        """The name of the policy in reasons: its title and its level."""
        return MarkedText(' '.join((self.title, *self.levels)))

    @property
    def levels(self) -> Sequence[str]:
        """Levels to which this policy refers; each must exist in the
        snapshot."""
        return ()

    @property
    def traits(self) -> Collection[str]:
        """Traits of hosts that its check reads."""
        return ()

    @property
    def confines(self) -> str | None:
        """The level of which one domain holds all members below, if this
        policy is hard and requires it. None if it requires this of some of the
        members only, like a relationship."""
        return None

    @property
    def keeps_together(self) -> bool:
        """Whether this policy is hard and requires members in the domains of
        other members. A member may then follow another whose server Nova is
        moving: the source of that move does not count."""
        return self.confines is not None

    @property
    def closes(self) -> str | None:
        """The level whose domains are closed to all other servers while
        members are in them, if this policy is hard and reserves domains.

        Declaring it above the level host requires a separate right.
        """
        return None

    @property
    def vertex(self) -> Sequence[str]:
        """The path, from coarse to fine, of the single vertex of the topology
        that this policy names; empty if it names none.

        Naming a host requires a separate right.
        """
        return ()

    def most_on_a_host(self, scope: 'Scope') -> int | None:
        """The maximum number of the scope's members on one host, if this
        policy is hard and sets the same maximum for every host."""
        return None

    def admits(self, host: Host) -> bool:
        """Whether members below may be on the host at all.

        False if the policy is hard and this host does not satisfy it,
        independent of other members; the requirements of policies below count
        elsewhere.
        """
        return True

    def excluded(self, snapshot: 'Snapshot') -> frozenset[Domain] | None:
        """Domains in which every member below violates the policy, wherever
        all other members are; None if this is not declared.

        The solver then checks the members on one host after another, which
        takes long. Domains may be missing. A subclass with its own check must
        declare them again.
        """
        return None

    def distinguishes(self, scope: 'Scope',
                      member: 'Member') -> Mapping[str, bool] | None:
        """The levels on whose domains the result of the check depends when
        only the host of this member changes. None if the result also depends
        on other properties of the host, or if this is not declared.

        Two hosts in the same domain of each level then get the same result.
        False with a level means that all its domains without a member of the
        top-level group also get the same result. The default states that its
        check does not depend on the member. A subclass with its own check must
        declare it again.
        """
        return None

    def reserves(self, scope: 'Scope', placement: Mapping[str, Host],
                 snapshot: Snapshot) -> frozenset[Domain]:
        """Domains in which no server from outside the scope may be while its
        members have these hosts."""
        return frozenset()

    def allows_another(self, scope: 'Scope', placed: PlacedMembers,
                       snapshot: Snapshot) -> Callable[[Host], bool] | None:
        """A function of the host of one more member of the scope. It returns
        True only if the check finds as many violations with this member as
        without it. None if this is not declared.

        A create checks several hosts for one member. Without this function,
        each of these checks reads the hosts of all members. A subclass with
        its own check does not inherit it.

        :param placed: the placement of ``check``, without the member. The
            numbers of members in domains are kept from create to create
        :param snapshot: as in ``check``. If the policy is local, it has no
            hosts
        """
        return None

    @abc.abstractmethod
    def check(self, scope: 'Scope', placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        """Check a placement.

        :param placement: the hosts of members of the whole top-level group by
            path; members of the scope that are missing here are not placed,
            which is not a violation
        :param snapshot: its ``Host.servers`` does not count servers of the
            group
        """

    @abc.abstractmethod
    def encode(self, scope: 'Scope', encoder: Encoder) -> None:
        """Add the policy to an integer program over the scope's members."""
