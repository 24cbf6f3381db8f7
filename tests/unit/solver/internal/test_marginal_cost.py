# SPDX-License-Identifier: Apache-2.0
"""The costs of inserting members one after the other."""

from collections import Counter
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.solver.construct.insertion import insert_members
from nova_holistic.solver.evaluation import marginal_cost
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.strategies import OBJECTIVES

HOSTS = 200


@pytest.mark.parametrize('objective', OBJECTIVES[:3])
def test_costs_follow_each_inserted_member(objective):
    """After each insertion, all costs equal those of a cloud in which the
    inserted members already run."""
    for seed in range(times(40)):
        chance = random.Random(seed)
        members = group(*(MemberDescription(name, Requirements(FrozenMapping({
            'VCPU': chance.randint(1, 3), 'MEMORY_MB': chance.randint(0, 4)
        })), 4) for name in ('web', 'db'))).all_members()
        kinds = [demands(each.requirements) for each in members]
        cost = load_objective(objective).for_group(
            group(servers('web'))).host_cost()
        used = [Counter(VCPU=chance.randint(0, 9),
                        MEMORY_MB=chance.randint(0, 9)) for _ in range(5)]
        found = MarginalCost(HostTable.of(_cloud(used)), members, cost, ())
        there = set()
        for wanted in chance.sample(kinds, len(kinds)):
            # Costs of any of the kinds may be known before they change.
            for kind in chance.sample(kinds, chance.randint(0, 2)):
                found.of(kind)
            number = chance.randrange(len(used))
            found.put(wanted, number)
            used[number].update(dict(wanted))
            there.add(number)
            expected = MarginalCost(
                HostTable.of(_cloud(used)), members, cost, sorted(there))
            assert np.array_equal(found.utilisation, expected.utilisation)
            for kind in kinds:
                assert np.array_equal(found.of(kind), expected.of(kind))


def _cloud(used):
    return cloud(*(host(f'h{number}', 'r1', inventories={
        name: Inventory(9, used=amounts[name])
        for name in ('VCPU', 'MEMORY_MB')})
        for number, amounts in enumerate(used)))


def test_further_equal_members_do_not_compute_the_costs_of_all_hosts(
        monkeypatch):
    assert _computed(monkeypatch, 4) == _computed(monkeypatch, 12) > 0


def _computed(monkeypatch, members):
    """How often the insertion of members computes the cost of all hosts."""
    found = Counter()
    curve = marginal_cost.curve

    def count(share, slopes):
        found[len(share)] += 1
        return curve(share, slopes)

    snapshot = cloud(*(host(f'h{number}', f'r{number % 4}')
                       for number in range(HOSTS)))
    bound = bind(group(servers('web', members)), snapshot)
    known = Incumbent(bound, snapshot, {},
                      load_objective('spread').for_group(bound), 0.01)
    with monkeypatch.context() as patch:
        patch.setattr(marginal_cost, 'curve', count)
        assert insert_members(known, in_time(10.0), always=True) is not None
    return found[HOSTS]
