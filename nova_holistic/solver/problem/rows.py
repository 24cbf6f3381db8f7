# SPDX-License-Identifier: Apache-2.0
"""Rows (constraints) of policies, and the quantities in them."""

from dataclasses import dataclass
import enum

import numpy as np
from pulp import LpConstraintEQ, LpConstraintGE, LpConstraintLE

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship


class Kind(enum.Enum):
    """The meaning of an atom."""

    COUNT = 'number of members in the domain'
    USED = '1 if the domain holds a member'
    OUTSIDE = 'number of members in no domain of the level'
    FREE = 'a variable of the policy'

    # Kinds are part of many keys; the hash of an Enum is slow.
    __hash__ = object.__hash__


# There may be tens of thousands of them, and creating frozen objects takes
# three times as long.
@dataclass(slots=True, eq=False)
class Atom:
    """One quantity in the rows of policies. It never changes.

    :ivar scope: index into :attr:`Rules.scopes`
    :ivar domain: the domain; None for OUTSIDE and FREE
    :ivar upper: largest value of a FREE atom
    :ivar whole: whether a FREE atom must be an integer
    """

    kind: Kind
    scope: int = -1
    level: str = ''
    domain: Domain | None = None
    upper: float = 0
    whole: bool = True


Terms = tuple[tuple[Atom, float], ...]
"""The terms of a sum: each atom with its coefficient."""


@dataclass(frozen=True, slots=True)
class ScopedPolicy:
    """A policy or relationship, and the scope of the group that contains it.
    """

    policy: Policy
    scope: Scope

    @property
    def key(self) -> tuple[int, str]:
        """A key that is equal if the same group contains the same policy."""
        return id(self.policy), self.scope.path

    @property
    def members(self) -> tuple[Member, ...]:
        """The members that the policy or relationship applies to."""
        if isinstance(self.policy, Relationship):
            return tuple(member for side in self.policy.sides(self.scope)
                         for member in side)
        return tuple(self.scope.members)

    @property
    def label(self) -> str:
        """The name of the policy in a reason, e.g. ``db: anti-affinity``."""
        if not self.scope.path:
            return self.policy.title
        return f'{self.scope.path}: {self.policy.title}'


_UPPER_SIGNS = {LpConstraintLE: (1,), LpConstraintGE: (-1,),
                LpConstraintEQ: (1, -1)}


@dataclass(frozen=True, slots=True)
class Row:
    """The constraint that the sum of coefficient x atom is <=, >= or ==
    (PuLP's sense) the limit."""

    carried: ScopedPolicy
    terms: Terms
    sense: int
    limit: float

    @property
    def upper_signs(self) -> tuple[int, ...]:
        """The signs with which sign x sum <= sign x limit must hold: 1, -1, or
        both for an equation."""
        return _UPPER_SIGNS[self.sense]

    def bounds(self, constant: float = 0.0) -> tuple[float, float]:
        """The smallest and the largest value of the sum of the terms that are
        variables.

        :param constant: value of the other terms
        """
        limit = self.limit - constant
        return (-np.inf if self.sense == LpConstraintLE else limit,
                np.inf if self.sense == LpConstraintGE else limit)


@dataclass(frozen=True, slots=True, eq=False)
class CountLimit:
    """No domain of the level holds more than ``most`` members of the scope.

    :ivar scope: index into :attr:`Rules.scopes`
    :ivar domains: sorted indexes into the division of the level, of the
        domains that a member of the scope can be in
    """

    carried: ScopedPolicy
    scope: int
    level: str
    domains: np.ndarray
    most: int
