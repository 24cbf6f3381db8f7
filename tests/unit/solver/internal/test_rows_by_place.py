# SPDX-License-Identifier: Apache-2.0
"""A step of the large-neighbourhood search uses only the rows that its members
can change."""

import numpy as np

from nova_holistic.model.binding import bind
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity, SoftAntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.improve.rows_by_place import RowsByPlace
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import no_limit
from nova_holistic.solver.problem.rows import Kind
from tests.unit.builders import cloud, group, host, servers

HOSTS = cloud(*(host(f'r{rack}h{number}', f'r{rack}')
                for rack in range(6) for number in range(2)))


def rows_about(shop, members, hosts):
    """Return the rows about the members and the hosts with these names."""
    bound = bind(shop, HOSTS)
    case = Case.of(bound, HOSTS, {})
    rows = RowsByPlace(case, no_limit)
    chosen = [m for m in case.members if m.path in members]
    return rows.about(chosen, np.array(
        [rows.table.index[name] for name in hosts]), case.policies)


def racks_of(rows):
    return {atom.domain.path[-1] for row in rows for atom, _ in row.terms
            if atom.domain is not None}


def test_rows_of_other_racks_are_left_out():
    shop = group(servers('web', 3), servers('db', 3), relationships=[
        RelationshipAntiAffinity(between=('web', 'db'), level='rack')])
    rows = rows_about(shop, ['web-0'], ['r1h0', 'r4h1'])
    assert racks_of(rows) == {'r1', 'r4'}
    assert len(rows) == 2


def test_rows_of_other_members_are_left_out():
    shop = group(
        groups=[group(servers('web', 3), name='web',
                      policies=[Exclusive(level='rack')]),
                group(servers('db', 3), name='db',
                      policies=[Affinity(level='rack')])])
    rows = rows_about(shop, ['db/db-0'], ['r1h0'])
    assert {type(row.carried.policy) for row in rows} == {Affinity, Exclusive}
    # The exclusive policy of web has two terms, and the affinity of db has one
    # row over all racks.
    assert sorted(len(row.terms) for row in rows) == [2, 6]


def test_rows_that_share_a_variable_stay_together():
    """The smallest count of all racks may be in another rack."""
    shop = group(servers('web', 12), policies=[
        Spread(level='rack', max_skew=1)])
    rows = rows_about(shop, ['web-0'], ['r1h0'])
    assert racks_of(rows) == {f'r{rack}' for rack in range(6)}
    assert {atom.kind for row in rows for atom, _ in row.terms} == {
        Kind.COUNT, Kind.FREE}


def test_rows_of_preferences_stay_whole():
    """The limit on their cost covers all rows."""
    shop = group(servers('web', 3), policies=[
        AntiAffinity(level='rack', weight=1.0), SoftAntiAffinity()])
    rows = rows_about(shop, ['web-0'], ['r1h0'])
    assert len(rows) == 6 + 12
