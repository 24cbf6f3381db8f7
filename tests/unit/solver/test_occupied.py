# SPDX-License-Identifier: Apache-2.0
"""The snapshot that other groups see after a group was placed."""

from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.solver.relaxations.occupied import occupied
from tests.unit.builders import group, servers, two_racks


def test_use_and_servers_are_counted():
    wanted = group(servers('a', 2, vcpus=3), servers('b', vcpus=2))
    after = occupied(wanted, two_racks(), {
        'a-0': 'r1h1', 'a-1': 'r1h1', 'b': 'r2h1'})
    found = {host.name: (host.inventories['VCPU'].used, host.servers)
             for host in after.hosts}
    assert found == {'r1h1': (6, 2), 'r1h2': (0, 0), 'r2h1': (2, 1),
                     'r2h2': (0, 0)}
    assert all(host.enabled for host in after.hosts)


def test_hosts_of_a_closed_domain_are_disabled():
    part = group(servers('a'), name='part',
                 policies=[Exclusive(level='rack')])
    after = occupied(group(servers('b'), groups=[part]), two_racks(), {
        'part/a': 'r1h1', 'b': 'r2h1'})
    assert [host.name for host in after.hosts if host.enabled] == [
        'r2h1', 'r2h2']


def test_the_snapshot_itself_stays_as_it_is():
    before = two_racks()
    occupied(group(servers('a')), before, {'a': 'r1h1'})
    assert before == two_racks()
