# SPDX-License-Identifier: Apache-2.0
"""Costs of hosts for the loads that members can add together."""

from dataclasses import replace
import itertools

from hypothesis import given, strategies as st
import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives import load_objective
from nova_holistic.objectives.spread import curve
from nova_holistic.solver.limits.current import limits, using
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.shared_hosts.host_curves import HostCurves
from tests.unit.builders import cloud, group, host


def _curves(inventories, requested):
    """The curves of one host, for members with these amounts."""
    snapshot = cloud(host('a', 'r', inventories=inventories))
    wanted = bind(group(*(
        MemberDescription(f'm{n}', Requirements(FrozenMapping(amounts)))
        for n, amounts in enumerate(requested))), snapshot)
    return HostCurves.of(HostTable.of(snapshot), wanted.all_members(),
                         load_objective('spread').host_cost())


def _loads(inventories, requested):
    """The pairs of load and cost of all members that fit together."""
    names = sorted({name for each in requested for name in each})
    used = sum(inventories[name].used / inventories[name].capacity
               for name in names) / len(names)
    for number in range(len(requested) + 1):
        for some in itertools.combinations(requested, number):
            total = {name: sum(each.get(name, 0) for each in some)
                     for name in names}
            if all(amount <= inventories[name].capacity
                   - inventories[name].used
                   for name, amount in total.items()):
                load = sum(amount / inventories[name].capacity for name, amount
                           in total.items()) / len(names)
                yield load, curve(used + load) - curve(used)


@st.composite
def _hosts(draw):
    inventories = {}
    for name in ('VCPU', 'MEMORY_MB'):
        capacity = draw(st.integers(5, 40))
        inventories[name] = Inventory(
            capacity, used=draw(st.integers(0, capacity)))
    requested = draw(st.lists(st.fixed_dictionaries({
        'VCPU': st.integers(1, 9), 'MEMORY_MB': st.integers(0, 9)}),
        min_size=1, max_size=6))
    if not any(each['MEMORY_MB'] for each in requested):
        requested[0]['MEMORY_MB'] = 1
    return inventories, requested


@given(_hosts(), st.floats(0, 3), st.booleans())
def test_no_possible_load_costs_less_than_a_tangent(case, price, known_sums):
    """Each load that members can add costs at least each tangent, and at least
    its price less the largest gain. If there are few different sums, the gain
    is that of one of them."""
    inventories, requested = case
    section = replace(limits().shared_hosts, **(
        {} if known_sums else {'sums': 0}))
    with using(replace(limits(), shared_hosts=section)):
        curves = _curves(inventories, requested)
    assert (curves.sums is None) != known_sums
    gain = float(curves.largest_gain(np.array([0]), np.array([price]))[0])
    found = [*_loads(inventories, requested)]
    for load, cost in found:
        assert cost >= price * load - gain - 1e-12
        for slope, constant in curves.tangents(0):
            assert cost >= slope * load + constant - 1e-12
    if known_sums:
        assert gain == pytest.approx(max(
            price * load - cost for load, cost in found), abs=1e-12)


def test_loads_that_no_members_add_do_not_count():
    """The slope of the cost rises from 0.1 to 0.3 at a tenth of the capacity.
    One member has a load of 0.08 and costs 0.008, and two cost 0.028."""
    inventories = {'VCPU': Inventory(100)}
    curves = _curves(inventories, [{'VCPU': 8}] * 2)
    (slope, constant), = curves.tangents(0)
    assert slope == pytest.approx(0.25)
    assert slope * 0.08 + constant == pytest.approx(0.008)
    assert slope * 0.16 + constant == pytest.approx(0.028)
    gain, = curves.largest_gain(np.array([0]), np.array([0.2]))
    assert gain == pytest.approx(0.2 * 0.08 - 0.008)
