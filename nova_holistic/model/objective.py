# SPDX-License-Identifier: Apache-2.0
"""The objective that a plan optimises after the preferences."""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.policy import Expression


class HostEncoder(Protocol):
    """The integer program in the view of an objective."""

    snapshot: Snapshot
    members: Sequence[Member]

    def hosts(self) -> Sequence[Host]:
        """Hosts that contain, or may contain, a member of the group."""

    def host_used(self, host: Host) -> Expression:
        """1 if the host holds a member of the group, else 0."""

    def demand(self, host: Host, resource_class: str) -> Expression:
        """The amount that members without a fixed place take there."""

    def domains(self, level: str) -> Sequence[Domain]:
        """Domains of the level that contain, or may contain, a member."""

    def count(self, scope: Scope, domain: Domain) -> Expression:
        """Number of members in the domain that belong to a side of a
        relationship with traffic."""

    def integer(self, name: str, upper: int) -> Expression:
        """A new variable in 0, 1, ... upper."""

    def continuous(self, name: str, lower: float, upper: float) -> Expression:
        """A new real variable."""

    def require(self, constraint: Expression) -> None:
        """Add a constraint for every plan."""


@dataclass(frozen=True, slots=True)
class HostCost:
    """A cost that is a sum over hosts, where the cost of each host depends
    only on its utilisation.

    Utilisation is the mean over the resource classes that the group requests;
    see objectives.utilisation.

    :ivar opening: cost of a host that the group uses, from its free share (1 -
        utilisation before); works on columns, too
    :ivar slopes: slopes of equal pieces of a convex curve from 0 to 1; empty
        if there is no curve. A host costs curve(utilisation after) -
        curve(utilisation before) in addition
    """

    opening: Callable[[Any], Any]
    slopes: tuple[float, ...] = ()

    def utilisation_cost(self, share: float) -> float:
        """The height of the curve at a utilisation from 0 to 1."""
        width = 1 / len(self.slopes) if self.slopes else 1.0
        return sum(slope * min(width, max(0.0, share - number * width))
                   for number, slope in enumerate(self.slopes))


@dataclass(frozen=True, slots=True)
class Traffic:
    """Each server of one side exchanges this traffic with each server of the
    other.

    :ivar mbps: a whole number
    """

    mbps: int
    first: Scope
    second: Scope


class Objective(abc.ABC):
    """A cost to be minimised: one file, one entry point in
    ``nova_holistic.objectives``.

    The value evaluates a finished placement; the encoding adds the objective
    to the solver's model; at a proven optimum the two agree.

    :cvar integral: whether every value is a whole number, so that a solver's
        bound may be rounded up
    """

    name: ClassVar[str]
    integral: ClassVar[bool] = False

    def for_group(self, group: Group) -> 'Objective':
        """The objective with the additional information in this group; this
        object itself if the group has none."""
        return self

    def host_cost(self) -> HostCost | None:
        """The cost of hosts in use, if the objective is the sum of these
        costs; otherwise, and if the cost is unknown, None: the objective then
        does not distinguish hosts."""
        return None

    def traffic(self) -> Sequence[Traffic] | None:
        """The traffic between members, if the cost is exactly the sum of 2 x
        mbps over this traffic, over the levels of the tree, and over the pairs
        of servers, one of each side, that share no domain of the level;
        otherwise, and if the cost is unknown, None. With this information, the
        solver computes a bound, and places communicating members together."""
        return None

    @abc.abstractmethod
    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        """The cost of a finished placement: a number that is at least 0.

        :param placement: the host of every member by path
        :param placed: host names by path of members whose usage the snapshot
            contains
        """

    @abc.abstractmethod
    def encode(self, encoder: HostEncoder) -> Expression:
        """The same cost as a linear expression to be minimised."""
