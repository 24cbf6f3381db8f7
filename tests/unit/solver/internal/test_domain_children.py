# SPDX-License-Identifier: Apache-2.0
"""The domains within each domain, compared with the hosts' locations."""

import random

import numpy as np

from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.small_groups.domain_children import DomainChildren
from tests.unit.builders import cloud, host

TREE = ('az', 'rack', 'host')


def _table(chance):
    """Some hosts in random racks, in any order. A rack is in one zone."""
    zones = {rack: chance.choice('xyz') for rack in 'abcdefg'}
    racks = chance.choices([*zones], k=chance.randint(1, 12))
    return HostTable.of(cloud(*(
        host(f'h{number}', zones[rack], rack)
        for number, rack in enumerate(racks)), levels=TREE))


def _by_location(table, height, kept=lambda domain: True):
    """The domains at a height, and the names of the domains within them."""
    inner = TREE[-height]
    found = {}
    for each in table.hosts:
        outer = () if height == len(TREE) else table.snapshot.domain(
            each, TREE[-1 - height])
        domain = table.snapshot.domain(each, inner)
        found.setdefault(outer, set())
        if kept(domain):
            found[outer].add(domain)
    return found


def _by_name(table, height, children):
    """The domains and the names of ``DomainChildren``."""
    below = table.division(TREE[-height]).domains
    above = [()] if height == len(TREE) else table.division(
        TREE[-1 - height]).domains
    return {outer: {below[n] for n in children[domain]}
            for domain, outer in enumerate(above)}


def test_each_domain_has_the_domains_of_its_hosts():
    for seed in range(100):
        table = _table(random.Random(seed))
        for height in (1, 2, 3):
            children = DomainChildren.of(table, TREE, height)
            assert _by_name(table, height, children) == _by_location(
                table, height)
            assert len(children) == len(children.lengths)
            assert [len(children[n]) for n in range(len(children))] == [
                *children.lengths]


def test_some_of_the_children_remain():
    for seed in range(100):
        chance = random.Random(seed)
        table, height = _table(chance), chance.choice((1, 2, 3))
        domains = table.division(TREE[-height]).domains
        kept = np.array([chance.random() < 0.5 for _ in domains])
        names = {domain for domain, here in zip(domains, kept) if here}
        children = DomainChildren.of(table, TREE, height).only(kept)
        assert _by_name(table, height, children) == _by_location(
            table, height, names.__contains__)
