# SPDX-License-Identifier: Apache-2.0
"""A limit of counts is one entry, with the same meaning as a row for each
domain.

A policy of these tests encodes the rows. Every part of the solver must treat
both equally.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.evaluation.row_shapes import CountCap, shapes
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.rows import Kind
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers


@dataclass(frozen=True, kw_only=True)
class WrittenOut(AntiAffinity):
    """Anti-affinity that is encoded as one row for each domain."""

    type: ClassVar[str] = 'written-out'

    def encode(self, scope, encoder):
        encoder.require(encoder.outside(scope, self.level) == 0)
        if self.max_per_domain < len(scope.members):
            for domain in encoder.domains(self.level):
                encoder.require(
                    encoder.count(scope, domain) <= self.max_per_domain)


@dataclass(frozen=True, kw_only=True)
class TwoDomains(AntiAffinity):
    """The members use at most two domains of the level."""

    type: ClassVar[str] = 'two-domains'

    def encode(self, scope, encoder):
        encoder.require(sum(
            encoder.used(scope, domain)
            for domain in encoder.domains(self.level)) <= 2)


LEVELS = ['host', 'rack']


def racks(hosts=3, outside=1):
    """Return a cloud with four racks, and some hosts outside of racks."""
    return cloud(*(host(f'r{rack}h{number}', f'r{rack}', vcpus=2 + number)
                   for rack in range(4) for number in range(hosts)),
                 *(host(f'out{number}', vcpus=8)
                   for number in range(outside)))


def of(policy, snapshot, placed=()):
    shop = group(servers('web', 5), servers('db', 2, vcpus=2),
                 policies=[policy])
    return Case.of(bind(shop, snapshot), snapshot.without_servers(
        dict(placed).values()), dict(placed))


@pytest.fixture(params=LEVELS)
def both(request):
    """Return the same policy as a limit and as rows, with two placed members.
    """
    placed = {'web-0': 'r0h0', 'web-1': 'r1h1'}
    return [of(kind(level=request.param, max_per_domain=2), racks(), placed)
            for kind in (AntiAffinity, WrittenOut)]


def test_a_limit_is_one_entry_on_any_number_of_hosts():
    for hosts in (3, 300):
        case = of(AntiAffinity(max_per_domain=2), racks(hosts))
        assert len(case.rules.limits) == 1
        assert case.rules.rows == []


def test_limits_as_rows_are_the_rows(both):
    def said(row):
        (atom, coefficient), = row.terms
        assert atom.kind is Kind.COUNT
        return (atom.scope, atom.level, atom.domain, coefficient, row.sense,
                row.limit)

    compact, written = (
        {said(row) for row in case.rules.every_row()
         if row.terms[0][0].kind is Kind.COUNT} for case in both)
    assert compact == written != set()


def test_rows_of_other_levels_are_left_out():
    case = of(AntiAffinity(level='rack'), racks())
    named = [*case.rules.every_row(['rack'])]
    assert len(named) - len([*case.rules.every_row([])]) == 4


def test_greedy_construction_is_let_in_at_the_same_hosts(both):
    """The allowed hosts are equal after any additions and removals of members.
    """
    rule_counts = [RuleCounts(case) for case in both]
    random = np.random.default_rng(1)
    there = []
    for _ in range(60):
        c = int(random.integers(len(both[0].classes)))
        allowed = [counts.allowed_hosts(c) for counts in rule_counts]
        np.testing.assert_array_equal(allowed[0][0], allowed[1][0])
        np.testing.assert_array_equal(allowed[0][1], allowed[1][1])
        for h in range(len(both[0].table)):
            assert rule_counts[0].at(c, h) == rule_counts[1].at(c, h)
        open_to = np.flatnonzero(allowed[0][0])
        if len(open_to) and random.random() < 0.6:
            h = int(random.choice(open_to))
            there.append((c, h))
            for counts in rule_counts:
                counts.add(c, h)
        elif there:
            c, h = there.pop(int(random.integers(len(there))))
            for counts in rule_counts:
                counts.remove(c, h)


def test_the_shapes_of_both_are_equal(both):
    caps = [[(shape.scope, shape.level, dict(shape.limits))
             for shape in shapes(case.rules) if isinstance(shape, CountCap)]
            for case in both]
    assert caps[0] == caps[1] != []


@pytest.mark.parametrize('level', LEVELS)
@pytest.mark.parametrize('strategy', ['whole', 'decomposed'])
def test_plans_of_both_are_equally_good(level, strategy):
    snapshot = racks()
    found = [solve(group(servers('web', 6), servers('db', 2, vcpus=2),
                         policies=[kind(level=level, max_per_domain=2)]),
                   snapshot, objective='fewest-hosts',
                   settings=Settings(strategy))
             for kind in (AntiAffinity, WrittenOut)]
    assert found[0].objective.value == found[1].objective.value


@pytest.mark.parametrize('kind', [AntiAffinity, WrittenOut])
def test_members_that_stay_over_the_limit_leave_no_plan(kind):
    """The members were placed before the policy was added."""
    answer = solve(group(servers('web', 4), policies=[kind()]), racks(),
                   placed={'web-0': 'r0h0', 'web-1': 'r0h0'})
    assert type(answer).__name__ == 'Unplaceable'


def test_a_limit_of_used_domains_does_not_close_domains_with_members():
    """When the last permitted domain is used, all domains without members are
    closed."""
    case = of(TwoDomains(level='rack'), racks(outside=0))
    rule_counts, index = RuleCounts(case), case.table.index
    first = [index[f'r{rack}h0'] for rack in range(4)]

    def allowed():
        return rule_counts.allowed_hosts(0)[0][first].tolist()

    assert allowed() == [True] * 4
    rule_counts.add(0, first[0])
    assert allowed() == [True] * 4
    rule_counts.add(0, first[1])
    assert allowed() == [True, True, False, False]
    rule_counts.remove(0, first[0])
    assert allowed() == [True] * 4
