# SPDX-License-Identifier: Apache-2.0
"""Compares max-domains with every placement of a small cloud."""

import itertools

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve

CLOUD = parse_inventory({
    'levels': ['rack', 'host'],
    'hosts': [
        {'name': name, 'location': [rack], 'resources': {'VCPU': {'total': n}}}
        for name, rack, n in (('a', 'r1', 1), ('b', 'r1', 2),
                              ('c', 'r2', 1), ('d', 'r3', 3))]})


def group(servers, **keys):
    return parse_group({
        'name': 'licensed',
        'members': [{'name': 'node', 'count': servers,
                     'resources': {'VCPU': 1}}],
        'policies': [{'type': 'max-domains', **keys}],
    }, load_policy_types())


def least_domains(servers, level):
    """The smallest number of domains of any placement that fits."""
    rooms = {h.name: h.inventories['VCPU'].total for h in CLOUD.hosts}
    domain = {h.name: CLOUD.domain(h, level) for h in CLOUD.hosts}
    return min(
        len({domain[name] for name in names})
        for names in itertools.product(rooms, repeat=servers)
        if all(names.count(name) <= room for name, room in rooms.items()))


def test_solver_and_check_agree_with_trying_everything():
    for level, servers in itertools.product(('rack', 'host'), range(1, 8)):
        least = least_domains(servers, level)
        for number in range(1, 5):
            wanted = {'level': level, 'number': number}
            hard = solve(group(servers, **wanted), CLOUD)
            soft = solve(group(servers, **wanted, weight=1), CLOUD)
            if least <= number:
                assert check(
                    group(servers, **wanted), CLOUD, hard.hosts()) == ()
            else:
                assert any('max-domains' in f'{r.at} {r.message}'
                           for r in hard.reasons)
            assert soft.preferences[0].violations == max(0, least - number)
