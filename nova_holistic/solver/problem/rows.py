# SPDX-License-Identifier: Apache-2.0
"""What the rows of policies are made of."""

from dataclasses import dataclass
import enum

import numpy as np

from nova_holistic.model.domain import Domain
from nova_holistic.model.group import Scope
from nova_holistic.model.policy import Policy


class Kind(enum.Enum):
    """What an atom stands for."""

    COUNT = 'number of members in the domain'
    USED = '1 where the domain holds a member'
    OUTSIDE = 'number of members in no domain of the level'
    FREE = 'a variable of the policy itself'


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """One quantity that policies speak of.

    :ivar scope: index into :attr:`Rules.scopes`
    :ivar domain: None for OUTSIDE and FREE
    :ivar upper: largest value, of FREE
    :ivar whole: whether only whole numbers will do, of FREE
    """

    kind: Kind
    scope: int = -1
    level: str = ''
    domain: Domain | None = None
    upper: float = 0
    whole: bool = True


Terms = tuple[tuple[Atom, float], ...]
"""Each with its coefficient, to be added up."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A policy and the scope of the group that carries it."""

    policy: Policy
    scope: Scope

    @property
    def key(self) -> tuple[int, str]:
        """Equal where the same policy is carried by the same group."""
        return id(self.policy), self.scope.path

    @property
    def at(self) -> str:
        """The name of it in a reason, e.g. ``db: anti-affinity``."""
        if not self.scope.path:
            return self.policy.title
        return f'{self.scope.path}: {self.policy.title}'


@dataclass(frozen=True, slots=True)
class Row:
    """sum of coefficient x atom, <= or >= or == (as PuLP's sense) limit."""

    carried: Carried
    terms: tuple[tuple[Atom, float], ...]
    sense: int
    limit: float


@dataclass(frozen=True, slots=True, eq=False)
class CountLimit:
    """No domain of the level holds more than ``most`` members of the scope.

    :ivar scope: index into :attr:`Rules.scopes`
    :ivar domains: indexes into the division of the level, sorted: those that
        a member of the scope can be in
    """

    carried: Carried
    scope: int
    level: str
    domains: np.ndarray
    most: int
