# SPDX-License-Identifier: Apache-2.0
"""The size and the content of the integer program."""

import itertools

import pulp

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline
from tests.unit.builders import cloud, group, host, servers


def _program(snapshot, wanted, objective='fewest-hosts', placed=None):
    case = Case.of(wanted, snapshot, placed or {})
    return Program(case, load_objective(objective),
                   Deadline(itertools.repeat(0.0).__next__, 1.0))


def test_equal_members_are_one_class_with_a_count():
    snapshot = cloud(*(host(f'h{n}', 'r') for n in range(7)))
    wanted = group(servers('web', 50), servers('db', 30, vcpus=2),
                   servers('cache', 20))
    program = _program(snapshot, wanted)
    # web and cache are one class, with one integer for each host.
    assert [len(row) for row in program.x] == [7, 7]


def test_a_policy_on_some_members_makes_a_separate_class():
    snapshot = cloud(*(host(f'h{n}', 'r') for n in range(3)))
    wanted = group(servers('web', 2), groups=[
        group(servers('web', 2), name='apart', policies=[AntiAffinity()])])
    assert [len(row) for row in _program(snapshot, wanted).x] == [3, 3]


def test_hosts_without_room_for_a_class_have_no_variable():
    snapshot = cloud(
        host('small', 'r', vcpus=1), host('off', 'r', enabled=False),
        host('full', 'r', inventories={'VCPU': Inventory(4, used=4)}),
        host('fit', 'r', vcpus=8))
    program = _program(snapshot, group(servers('web', 9, vcpus=2)))
    assert [list(row) for row in program.x] == [[3]]
    # Four members fit on this host, the only one with room.
    assert program.x[0][3].upBound == 4


def test_placed_members_have_no_variable():
    snapshot = cloud(host('a', 'r'), host('b', 'r'))
    program = _program(snapshot, group(servers('web', 2)),
                       placed={'web-0': 'a', 'web-1': 'b'})
    assert program.x == []
    assert program.cost.constant == 2


def test_the_costs_of_different_hosts_differ():
    snapshot = cloud(*(host(f'h{n}', 'r', inventories=FrozenMapping({
        'VCPU': Inventory(16, used=4 * n)})) for n in range(3)))
    program = _program(snapshot, group(servers('web', 2)), 'stack')
    assert sorted(program.cost.values()) == [0.5, 0.75, 1.0]


def test_the_variable_of_a_used_host_is_created_once():
    snapshot = cloud(*(host(f'h{n}', 'r') for n in range(4)))
    program = _program(snapshot, group(servers('web', 2)))
    assert program.size == 4 + 4
    for each in snapshot.hosts:
        program.host_used(each)
    assert program.size == 4 + 4


def test_integers_are_relaxed_only_inside_linear():
    program = _program(cloud(*(host(f'h{n}', 'r') for n in range(4))),
                       group(servers('web', 2), servers('db', 2, vcpus=3)))
    program.minimise_cost()

    def whole():
        return [v.name for v in program.problem.variables()
                if v.cat == pulp.LpInteger]
    before = whole()
    with program.linear():
        assert before and not whole()
    assert whole() == before
