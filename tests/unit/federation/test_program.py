# SPDX-License-Identifier: Apache-2.0
"""The integer program finds the best choice of clouds, compared with all
choices."""

import itertools

from hypothesis import given, strategies as st

from nova_holistic.federation.splitting.cloud_view import (
    cloud_group, CloudView)
from nova_holistic.federation.splitting.kinds import kinds
from nova_holistic.federation.splitting.parts import divide
from nova_holistic.federation.splitting.program import (
    Column, Measured, Price, Program, Refusal)
from nova_holistic.solver.milp.backend import load_backend
from tests.effort import examples
from tests.unit.federation import documents
from tests.unit.federation.clouds import member, TYPES

CLOUDS = documents.CLOUDS


class Choices:
    """Every choice of clouds for the parts of a document."""

    def __init__(self, document, columns, refused):
        self.division = divide(document, TYPES, CLOUDS)
        self.kinds = kinds(self.division)
        self.columns = {
            (k, cloud): Column(*columns[(k + i) % len(columns)])
            for k, kind in enumerate(self.kinds)
            for i, cloud in enumerate(sorted(kind.clouds))
            if columns[(k + i) % len(columns)] is not None}
        self.refused = [Refusal(cloud, counts) for cloud, sets in
                        refused.items() if (counts := {
                            k: min(number, self.kinds[k].number)
                            for k, number in sets.items()
                            if k < len(self.kinds)})]
        self.view = CloudView(cloud_group(document, TYPES), CLOUDS)

    def program(self, **more):
        return Program(self.kinds, self.division.rows, self.columns,
                       {cloud: Price() for cloud in CLOUDS}, CLOUDS,
                       self.refused, **more).solve(load_backend('highs'), 10.0)

    def best(self):
        """Return the least (weighted violations, number of clouds), or None if
        no choice is valid."""
        found = [self._cost(clouds) for clouds in itertools.product(
            CLOUDS, repeat=len(self.division.parts))]
        return min((each for each in found if each), default=None)

    def _cost(self, clouds):
        parts = list(zip(self.division.parts, clouds))
        number = {part: k for k, kind in enumerate(self.kinds)
                  for part in kind.parts}
        counts = {}
        for part, cloud in parts:
            key = number[part], cloud
            if key not in self.columns:
                return None
            counts[key] = counts.get(key, 0) + 1
        if any(all(counts.get((k, each.cloud), 0) >= n
                   for k, n in each.counts.items()) for each in self.refused):
            return None
        places = {path: cloud for part, cloud in parts for path in part.paths}
        if self.view.violated_rules(places):
            return None
        return (round(self.view.cost(places) + sum(
            self.columns[key].violations * n for key, n in counts.items()),
            6), len(set(clouds)))


COLUMNS = st.lists(st.one_of(st.none(), st.tuples(
    st.sampled_from([0, 0, 1, 3]), st.sampled_from([1, 2]))),
    min_size=2, max_size=5)
REFUSED = st.dictionaries(st.sampled_from(CLOUDS), st.dictionaries(
    st.integers(0, 2), st.integers(1, 3), min_size=1, max_size=2), max_size=2)


@examples(100)
@given(documents.groups(depth=1), COLUMNS, REFUSED)
def test_the_program_finds_the_best_choice(document, columns, refused):
    choices = Choices(document, columns, refused)
    if len(choices.division.parts) > 6:
        return
    found, best = choices.program(), choices.best()
    if best is None:
        assert found is None
    else:
        assert round(found.violations, 5) == round(best[0], 5)
        assert len({cloud for _, cloud in found.counts}) == best[1]


def two_groups(**more):
    return Choices({'name': 'g', **more, 'groups': [
        {'name': name, 'members': [member('m')]} for name in 'ab']},
        [(0, 1)], {})


def test_the_value_decides_between_equal_violations():
    choices = two_groups()
    choices.columns = {(k, cloud): Column(0, value) for k in (0, 1)
                       for cloud, value in zip(CLOUDS, (3, 1, 2))}
    assert choices.program().counts == {(0, 'bru'): 1, (1, 'bru'): 1}


def test_a_measured_surplus_changes_the_choice():
    choices = two_groups()
    (first,) = {cloud for _, cloud in choices.program().counts}
    measured = [Measured(first, {0: 1, 1: 1}, 2.0)]
    found = choices.program(measured=measured)
    assert {cloud for _, cloud in found.counts} != {first}
    assert found.violations == 0
    # If every cloud has the surplus, a single cloud is no longer better.
    found = choices.program(measured=[
        Measured(cloud, {0: 1, 1: 1}, 2.0) for cloud in CLOUDS])
    assert len(found.counts) == 2
    assert found.violations == 0


def test_a_limit_of_a_column():
    document = {'name': 'g', 'members': [member('m', count=5)], 'policies': [
        {'type': 'anti-affinity', 'level': 'cloud', 'max_per_domain': 5}]}
    choices = Choices(document, [(0, 1)], {})
    choices.columns = {(0, 'ams'): Column(0, 1, 2), (0, 'bru'): Column(0, 1)}
    found = choices.program()
    assert sum(found.counts.values()) == 5
    choices.columns[0, 'bru'] = Column(0, 1, 2)
    assert choices.program() is None
