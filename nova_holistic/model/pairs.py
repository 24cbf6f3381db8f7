# SPDX-License-Identifier: Apache-2.0
"""Pairs of servers, one of each side, that share a domain: n x m pairs if the
domain holds n servers of one side and m of the other.

A product of two counts is not a linear expression, but it is exact with a few
additional variables: with the smaller count n as a sum of digits, each 0 or
its weight w, the product is the sum of w x (m if the digit is set, else 0).
"""

from collections.abc import Iterator
from typing import Protocol

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.group import Scope
from nova_holistic.model.policy import Expression


class PairEncoder(Protocol):
    """The common part of model.policy.Encoder and
    model.objective.HostEncoder."""

    def count(self, scope: Scope, domain: Domain) -> Expression:
        """Number of the scope's members in the domain."""

    def integer(self, name: str, upper: int) -> Expression:
        """A new variable in 0, 1, ... upper."""

    def continuous(self, name: str, lower: float, upper: float) -> Expression:
        """A new real variable."""

    def require(self, constraint: Expression) -> None:
        """Add a constraint for every plan."""


def pairs_together(encoder: PairEncoder, first: Scope, second: Scope,
                   domain: Domain) -> Expression:
    """The number of pairs in the domain, for a program in which a larger
    number is better.

    The value may be lower than the number of pairs, but not higher.
    """
    few, many = sorted((first, second), key=lambda s: len(s.members))
    number, others = (encoder.count(s, domain) for s in (few, many))
    # Domains that cannot contain both sides are left out.
    if not few.members or not number or not others:
        return 0
    name = f'pairs {few.path} {many.path} {domain.level} {domain}'
    total = 0
    for weight, digit in _digits(encoder, name, number, len(few.members)):
        # The program makes it as large as these two limits allow, which is a
        # whole number.
        part = encoder.continuous(f'{name} {weight}', 0, len(many.members))
        # It is at most the number of servers of the larger side,
        encoder.require(part <= others)
        # and 0 if the digit is not set.
        encoder.require(part <= digit * len(many.members))
        total = total + part * weight
    return total


def _digits(encoder: PairEncoder, name: str, number: Expression,
            most: int) -> Iterator[tuple[int, Expression]]:
    """Weights that sum to ``most``, each with a variable that is 1 if its
    digit is set."""
    if most == 1:
        yield 1, number
        return
    digits = []
    weight, left = 1, most
    while left:
        weight = min(weight, left)
        digits.append((weight, encoder.integer(f'{name} digit {weight}', 1)))
        left -= weight
        weight *= 2
    # The digits can express any number from 0 to the maximum.
    encoder.require(
        sum(digit * weight for weight, digit in digits) == number)
    yield from digits
