# SPDX-License-Identifier: Apache-2.0
"""The size of programs for given shapes grows with members and with hosts, but
not with their product."""

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.phases import large
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.incumbent import Incumbent
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.growth import lines, mixed, product, shop
from tests.unit.solver.internal.deadlines import in_time, task

OBJECTIVES = ('fewest-hosts', 'stack', 'spread')


def size_of(program):
    return (len(program.problem.variables()),
            len(program.problem.constraints()))


def uniform(hosts):
    return cloud(*(host(f'h{n}', f'r{n % 4}') for n in range(hosts)))


def exact(snapshot, wanted, objective='fewest-hosts'):
    return size_of(Program(Case.of(wanted, snapshot, {}),
                           load_objective(objective), in_time()))


@pytest.mark.parametrize('hosts', [10, 40])
@pytest.mark.parametrize('members', [60, 600])
def test_the_exact_model_has_one_integer_per_class_and_host(hosts, members):
    two_sizes = group(servers('web', members // 3),
                      servers('db', members // 6, vcpus=2),
                      servers('cache', members // 2))
    # Variables: an integer for each host and size, and a binary for each host.
    # Rows: one for each size, two for each binary, and one for the capacity of
    # each host.
    assert exact(uniform(hosts), two_sizes) == (
        2 * hosts + hosts, 2 + 2 * hosts + hosts)


@pytest.mark.parametrize('hosts', [10, 40])
@pytest.mark.parametrize('members', [20, 60])
def test_a_limit_adds_a_row_per_domain_that_several_variables_share(
        hosts, members):
    def capped(*sizes, **keys):
        return group(*sizes, policies=[AntiAffinity(**keys)])

    web = servers('web', members)
    plain = exact(uniform(hosts), group(web))
    assert plain == (2 * hosts, 1 + 3 * hosts)
    # The limit adds a row for each of the four racks, and no variable.
    assert exact(uniform(hosts), capped(
        web, level='rack', max_per_domain=members // 2)) == (
            2 * hosts, 1 + 3 * hosts + 4)
    # With one size, the limit of a host is the upper bound of its variable.
    assert exact(uniform(hosts), capped(web, max_per_domain=5)) == (
        2 * hosts, 1 + 3 * hosts)
    # With two sizes, the limit is a row for each host.
    assert exact(uniform(hosts), capped(
        web, servers('db', members, vcpus=2), max_per_domain=5)) == (
            3 * hosts, 2 + 3 * hosts + hosts)


def test_amounts_of_different_magnitude_add_one_variable_per_host():
    snapshot = cloud(*(host(f'h{n}', 'r', inventories={
        'VCPU': Inventory(10**6 + n)}) for n in range(10)))
    near = group(servers('a', 9, vcpus=3000), servers('b', 9, vcpus=300_000))
    far = group(servers('a', 9, vcpus=3001), servers('b', 9, vcpus=300_000))
    assert exact(snapshot, near, 'fewest-hosts') == (30, 2 + 30)
    # Each host has a variable for the carry from the lower to the higher
    # digits, and a second row.
    assert exact(snapshot, far, 'fewest-hosts') == (40, 2 + 40)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_the_restricted_model_has_only_the_chosen_hosts(
        objective, searched_cases):
    aim = load_objective(objective)
    sizes = []
    for hosts in (1000, 2000, 4000):
        known = Incumbent(shop(80), mixed(hosts), {}, aim, 0.01)
        large.large(task(known), always=True)
        assert known.where is not None
        case = searched_cases[-1]
        chosen, classes = len(case.table), len(case.classes)
        variables, rows = size_of(Program(
            case, aim, in_time(), case.room > 0))
        # Variables: an integer for each class and chosen host, and a binary
        # for each host, or up to eleven segments of a curve and no binary.
        assert variables <= chosen * (classes + 12) + 3
        # Rows: two for each binary or one for each curve, one for each
        # resource class, a limit for each of the two groups, and then classes
        # and zones.
        assert rows <= chosen * (2 + 1 + 2) + classes + 2 * 3
        sizes.append((chosen, variables, rows))
    # A cloud of four times the size adds only a few hosts, by chance.
    for few, many in zip(sizes[0], sizes[-1]):
        assert many <= 1.5 * few + 50


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_relaxations_do_not_grow_with_the_cloud(objective, monkeypatch):
    solved = []

    def noting(self, *args, **keys):
        solved[-1] = max(solved[-1], (len(self.cost), self.count))
        return original(self, *args, **keys)

    original = Linear.solve
    monkeypatch.setattr(Linear, 'solve', noting)
    for hosts in (1000, 4000):
        solved.append((0, 0))
        large.large(
            task(Incumbent(shop(80), mixed(hosts), {},
                           load_objective(objective), 0.01)), always=True)
    (few, rows), (many, more) = solved
    assert 0 < few and many <= 1.5 * few + 100 and more <= 1.5 * rows + 100
    # Hosts are merged, so there are far fewer variables than hosts x kinds.
    assert many < 2 * 4000


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_no_loop_writes_a_whole_program_down_over_hosts_times_members(
        objective):
    aim = load_objective(objective)

    def written(wanted, snapshot):
        return lines(lambda: Program(
            Case.of(wanted, snapshot, {}), aim, in_time()))

    assert product(written, 300, 800) < 0.25
