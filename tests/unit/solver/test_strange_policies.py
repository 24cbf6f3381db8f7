# SPDX-License-Identifier: Apache-2.0
"""The solver depends on no policy type: it satisfies any policy with an
encoding."""

from dataclasses import dataclass
from typing import ClassVar

import pulp
import pytest

from nova_holistic.model.plan import Preference
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.solver.settings import Settings
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.scenario import plan, reasons


@dataclass(frozen=True, kw_only=True)
class AtLeast(Policy):
    """The members use at least ``number`` domains of the level."""

    type: ClassVar[str] = 'at-least'
    keys: ClassVar[dict] = {}

    level: str = 'host'
    number: int = 1

    @classmethod
    def from_document(cls, keys, *, weight, place):
        return cls(weight=weight, place=place, **keys)

    @property
    def levels(self):
        return (self.level,)

    def check(self, scope, placement, snapshot):
        found = {snapshot.domain(placement[m.path], self.level)
                 for m in scope.members}
        return Violations(max(0, self.number - len(found)))

    def encode(self, scope, encoder):
        used = pulp.lpSum(encoder.used(scope, d)
                          for d in encoder.domains(self.level))
        if self.hard:
            encoder.require(used >= self.number)
            return
        missing = encoder.integer('missing', self.number)
        encoder.require(used + missing >= self.number)
        encoder.penalise(self, scope, missing)


@dataclass(frozen=True, kw_only=True)
class Balanced(AtLeast):
    """The member counts of any two domains differ by at most ``number``."""

    type: ClassVar[str] = 'balanced'

    def check(self, scope, placement, snapshot):
        domains = {snapshot.domain(h, self.level) for h in snapshot.hosts}
        counts = [sum(snapshot.domain(placement[m.path], self.level) == d
                      for m in scope.members) for d in domains]
        return Violations(max(0, max(counts) - min(counts) - self.number))

    def encode(self, scope, encoder):
        domains = encoder.domains(self.level)
        for one in domains:
            for other in domains:
                if one != other:
                    encoder.require(encoder.count(scope, one)
                                    - encoder.count(scope, other)
                                    <= self.number)


@dataclass(frozen=True, kw_only=True)
class Leaning(Policy):
    """A rack may hold a number of members more than the emptiest rack. The
    number is different for each rack."""

    type: ClassVar[str] = 'leaning'
    keys: ClassVar[dict] = {}

    more: tuple[int, ...]

    @property
    def levels(self):
        return ('rack',)

    def check(self, scope, placement, snapshot):
        racks = sorted({snapshot.domain(h, 'rack') for h in snapshot.hosts})
        counts = [sum(snapshot.domain(placement[m.path], 'rack') == rack
                      for m in scope.members) for rack in racks]
        return Violations(sum(
            count - min(counts) > more
            for count, more in zip(counts, self.more, strict=True)))

    def encode(self, scope, encoder):
        low = encoder.integer('low', len(scope.members))
        for rack, more in zip(encoder.domains('rack'), self.more, strict=True):
            encoder.require(encoder.count(scope, rack) - low >= 0)
            encoder.require(encoder.count(scope, rack) - low <= more)


@pytest.mark.parametrize('strategy', ['auto', 'whole'])
@pytest.mark.parametrize('more, fits', [((3, 1), True), ((2, 3), False)])
def test_the_permitted_difference_may_depend_on_the_domain(
        more, fits, strategy):
    """The second rack has room for one member, so the first one needs room
    for four."""
    snapshot = cloud(host('h1', 'r1'), host('h2', 'r2', vcpus=1))
    wanted = group(servers('db', 5), policies=[Leaning(more=more)])
    settings = Settings(strategy)
    if fits:
        assert plan(snapshot, wanted, settings=settings).racks() == [1, 4]
    else:
        assert 'leaning' in str(reasons(snapshot, wanted, settings=settings))


def test_a_lower_limit_on_domains_overrules_the_objective():
    wanted = group(servers('db', 5), policies=[AtLeast(number=4)])
    found = plan(two_racks(), wanted, objective='fewest-hosts')
    assert found.objective.value == 4


def test_an_unsatisfiable_lower_limit_is_named():
    wanted = group(servers('db', 5), policies=[
        AtLeast(level='rack', number=3)])
    assert reasons(two_racks(), wanted) == {
        '': 'at-least rack needs 3 racks; there are 2'}


def test_a_weighted_lower_limit_is_met_as_far_as_possible():
    wanted = group(servers('db', 9), policies=[
        AtLeast(number=6, weight=1.0)])
    found = plan(two_racks(), wanted, objective='fewest-hosts')
    assert len(set(found.hosts.values())) == 4
    assert found.answer.preferences == (Preference('at-least', '', 2),)


def test_a_policy_can_balance_member_counts():
    wanted = group(servers('db', 7), policies=[
        Balanced(level='rack', number=1), Balanced(number=1)])
    found = plan(two_racks(), wanted, objective='stack')
    assert found.racks() == [3, 4]
