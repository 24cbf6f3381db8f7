# SPDX-License-Identifier: Apache-2.0
"""A child: another cloud with this API, and its answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
import enum
from typing import Any, Protocol

from nova_holistic.model.plan import Reason

Document = Mapping[str, Any]
"""A parsed group document, without its outer key."""


class RefusalKind(enum.StrEnum):
    """The reason why a child makes no offer.

    ``UNPLACEABLE``: the child proved that the group does not fit now.
    ``UNKNOWN``: the child found neither a plan nor a proof in its time, or the
    request exceeds a limit of the project there.
    ``UNREACHABLE``: no answer in time, or the child cannot work now. The
    request may have been carried out.
    ``FORBIDDEN``: the user has no access to the child, or not to the group.
    ``DENIED``: the child accepts the user, who does not have the rights that
    this request needs there, for example because its document names a host.
    ``INVALID``: the child does not accept the document, for example because
    it has no such level or flavor; or its answer is invalid.
    ``CHANGED``: the group has another revision than the request names, and the
    request was not carried out.
    """

    UNPLACEABLE = 'unplaceable'
    UNKNOWN = 'unknown'
    UNREACHABLE = 'unreachable'
    FORBIDDEN = 'forbidden'
    DENIED = 'denied'
    INVALID = 'invalid'
    CHANGED = 'changed'


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer of a child that does not carry out a request.

    :ivar child: name of the child
    :ivar relaxations: changes that make the group fit, as in a plan document;
        None: not requested, or the child has proved nothing
    """

    child: str
    kind: RefusalKind
    reasons: tuple[Reason, ...] = ()
    relaxations: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Offer:
    """The plan that a child offers. It holds no capacity.

    :ivar child: name of the child
    :ivar violations: weighted violations of preferences, in the unit of the
        weights of the document
    :ivar perfect: whether all preferences are met and the objective's bound
        is proven to be reached
    :ivar objective: name of the objective
    :ivar value: value of the objective, for all members together
    :ivar bound: no plan of the child has a lower value; None: not proved
    :ivar headroom: number of copies of the group that fit at least; None: not
        requested, or not known
    :ivar expires: naive UTC; the offer is not used afterwards
    :ivar most: number of copies that fit at most; None: not known
    """

    child: str
    violations: float
    objective: str
    value: float
    bound: float | None
    perfect: bool
    headroom: int | None
    expires: datetime
    most: int | None = None


@dataclass(frozen=True, slots=True)
class ChildMember:
    """A member of a group in a child.

    :ivar path: path in the child's group, which equals the path in the
        parent's group
    :ivar state: ``planned``, ``claimed``, ``built``, ``failed``, ``released``
        or ``lost``
    :ivar pointer: where the member is, if the child is itself a parent: the
        path of its cloud below the child, and the UUID of the group there
    """

    path: str
    state: str
    instance_uuid: str | None = None
    pointer: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ChildGroup:
    """A group in a child.

    :ivar status: the child's status of the group
    :ivar settled: whether no engine of the child works on the group
    :ivar counts: state to number of members in it
    :ivar lease_end: naive UTC; None: the lease never ends, or none is needed
    :ivar members: None: they were not read
    :ivar reasons: why the group is not placed
    :ivar idempotency_key: the key it was created with; None if the child does
        not show it
    :ivar project_id: project of the group in the child; None if the child does
        not show it
    """

    child: str
    uuid: str
    status: str
    settled: bool
    counts: Mapping[str, int]
    lease_end: datetime | None
    members: tuple[ChildMember, ...] | None = None
    reasons: tuple[Reason, ...] = ()
    idempotency_key: str | None = None
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """What a parent knows about a group in a child before a request.

    :ivar project_id: project of the group in the child; None: not known
    """

    uuid: str
    project_id: str | None


@dataclass(frozen=True, slots=True)
class ChildDefinition:
    """A group in a child, with its definition.

    :ivar revision: revision of the definition
    :ivar document: the definition
    """

    group: ChildGroup
    revision: int
    document: Document


@dataclass(frozen=True, slots=True)
class UpdateTerms:
    """The terms of an update of a group in a child.

    :ivar objective: None: the objective that the group has
    :ivar seconds: time limit
    :ivar actions: whether members with servers may change: the child lists
        the actions that these servers require
    """

    objective: str | None
    seconds: float
    actions: bool = False


class Child(Protocol):
    """A child with the credentials of one user.

    An implementation never raises an error because of an answer, or a missing
    answer, of the child: it returns a Refusal. A change of a group on which
    the child works is a Refusal, too. All times are in seconds.

    :ivar name: unique among the children of a parent; the first step of
        locations in this cloud
    """

    name: str

    def offer(self, document: Document, objective: str | None,
              seconds: float,
              extras: Collection[str] = ()) -> Offer | Refusal:
        """The offer from a dry run: ``POST /v1/plans``.

        :param objective: None: the default of the child
        :param seconds: time limit
        :param extras: ``headroom``: the offer contains how many copies of the
            group fit; ``relaxations``: a refusal contains changes that make
            the group fit. The search requests neither, because they take a
            child much longer than the offer itself
            (``benchmarks/README.rst``)
        """

    def create(self, document: Document, objective: str | None, lease: int,
               key: str, seconds: float) -> ChildGroup | Refusal:
        """Create the group, or find the group that was created with the key:
        ``POST /v1/groups`` with ``Idempotency-Key``.

        After a lost answer (UNREACHABLE), the same call finds the group.

        :param lease: seconds
        :param seconds: time limit
        """

    def find(self, key: str, name: str) -> ChildGroup | None | Refusal:
        """The group that was created with the key; None: no such group exists.

        :param name: name of the group in the child
        """

    def show(self, group_uuid: str) -> ChildGroup | None | Refusal:
        """The group with its members; None: it no longer exists."""

    def extend(self, group_uuid: str,
               seconds: int) -> ChildGroup | None | Refusal:
        """Extend the lease, so that it ends after these seconds; None: the
        group no longer exists, or has no planned member whose lease could be
        extended."""

    def release(self, group_uuid: str,
                members: Sequence[str] | None) -> Refusal | None:
        """Release planned members, or all of them if None is given. A group
        that no longer exists counts as released."""

    def delete(self, group_uuid: str) -> Refusal | None:
        """Delete the group. A group that no longer exists counts as
        deleted."""

    def definition(self,
                   group_uuid: str) -> ChildDefinition | None | Refusal:
        """The group with its definition; None: it no longer exists."""

    def update(self, seen: ChildDefinition, document: Document,
               terms: UpdateTerms) -> ChildDefinition | None | Refusal:
        """Replace the definition: ``PUT /v1/groups/{group_id}``.

        :param seen: the group with its present definition
        :returns: the group with the new definition; None: it no longer
            exists. A child that refuses the definition keeps the former one.
            If it has another revision than ``seen``, the refusal is CHANGED
        """

    def replan(self, group_uuid: str,
               seconds: float) -> ChildGroup | None | Refusal:
        """Plan lost members again; None: the group no longer exists, or has
        no plan."""

    def propose_repair(self, group_uuid: str
                       ) -> Mapping[str, Any] | None | Refusal:
        """The live migrations that restore the policies of the group; None:
        the group no longer exists, or has no servers.

        The keys are those of the response: ``moves``, ``planned_again`` and
        ``reasons``.
        """

    def repair(self, group_uuid: str,
               seconds: float) -> ChildGroup | None | Refusal:
        """Carry out these live migrations; None: the group no longer exists,
        or has no servers."""

    def detach(self, group_uuid: str, path: str) -> Refusal | None:
        """Remove a server from the group. The server itself remains."""
