# SPDX-License-Identifier: Apache-2.0
"""The bound of the number of hosts from policies at two levels, compared with
all plans of small groups."""

from collections import Counter
from fractions import Fraction
import itertools
import random

import numpy as np

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver.scenario import plan

LEVELS = ('az', 'rack', 'feed', 'host')


def _random_cloud(chance):
    """Return up to six hosts of different sizes, in racks of up to two zones.
    A rack name can occur in both zones, and power feeds cross the racks."""
    sizes = chance.choice(((2, 3, 4), (3, 4), (6,), (2, 9), (3, 3, 8)))
    return cloud(*(host(
        f'h{number}', chance.choice(('z1', 'z2')),
        chance.choice(('r1', 'r2', 'r3')), enabled=chance.random() < 0.95,
        labels={'feed': chance.choice('AB')} if chance.random() < 0.95 else {},
        inventories={
            'VCPU': Inventory(chance.choice(sizes), used=chance.choice(
                (0, 0, 0, 1))), 'MEMORY_MB': Inventory(chance.choice((4, 9)))})
        for number in range(chance.choice((3, 4, 5, 6)))),
        levels=('az', 'rack', 'host'))


def _random_policies(chance, numbers):
    for _ in range(chance.choice(numbers)):
        level = chance.choice(LEVELS)
        yield chance.choice((
            lambda: AntiAffinity(level=level, max_per_domain=chance.choice(
                (1, 2, 3, Fraction(1, 2), Fraction(1, 3)))),
            lambda: Spread(level=level, max_skew=chance.choice((0, 1, 1, 2))),
            lambda: Spread(level=level, min_domains=2)))()
    if chance.random() < 0.1:
        yield Affinity(level='az')


def _random_group(chance):
    """Return two subgroups with equal members each, and policies at any level.
    """
    return group(policies=_random_policies(chance, (1, 2, 2, 3)), groups=[
        group(servers('m', chance.randint(1, 4), vcpus=chance.choice(
            (1, 1, 2))), name=name, policies=_random_policies(
                chance, (0, 0, 1))) for name in 'ab'])


def _compositions(number, hosts):
    """Return an array [plan, host] of all ways to divide equal members among
    hosts."""
    return np.array([np.diff((-1, *bars, number + hosts - 1)) - 1
                     for bars in itertools.combinations(
                         range(number + hosts - 1), hosts - 1)])


class _AllPlans:
    """All plans of a group of two subgroups with equal members each."""

    def __init__(self, wanted, snapshot):
        self.hosts = snapshot.hosts
        (self.first, one), (self.second, two) = (
            (each.members[0], _compositions(
                each.members[0].count, len(self.hosts)))
            for each in wanted.groups)
        self.one = np.repeat(one, len(two), axis=0)
        self.two = np.tile(two, (len(one), 1))
        self.valid = self._have_room()
        confining = [p for p in wanted.policies if isinstance(p, Affinity)]
        for counts, policies, above in (
                (self.one + self.two, wanted.policies, ()),
                (self.one, wanted.groups[0].policies, confining),
                (self.two, wanted.groups[1].policies, confining)):
            for policy in policies:
                self.valid &= self._satisfy(
                    policy, counts, [p for p in (*policies, *above)
                                     if isinstance(p, Affinity)])

    def least(self):
        """Return the minimum number of hosts of a plan, or None if no plan
        exists."""
        used = ((self.one + self.two) > 0).sum(axis=1)[self.valid]
        return int(used.min()) if len(used) else None

    def _have_room(self):
        one, two = (each.requirements.resources['VCPU']
                    for each in (self.first, self.second))
        free = np.array([h.inventories['VCPU'].total - h.inventories[
            'VCPU'].used if h.enabled else 0 for h in self.hosts])
        return (self.one * one + self.two * two <= free).all(axis=1)

    def _domains(self, level):
        """Return the domain of each host, or None if it is in no domain."""
        return [{'az': h.location[:1], 'rack': h.location, 'host': h.name,
                 'feed': h.labels.get('feed')}[level] for h in self.hosts]

    def _satisfy(self, policy, counts, confining):
        """Return an array [plan]: whether the counts satisfy the policy."""
        names = self._domains(policy.level)
        outside = np.array([name is None for name in names])
        domains = sorted({name for name in names if name is not None})
        each = np.array([counts[:, [n == name for n in names]].sum(axis=1)
                         for name in domains]).reshape(len(domains), -1)
        fine = counts[:, outside].sum(axis=1) == 0
        if isinstance(policy, Affinity):
            return fine & ((each > 0).sum(axis=0) == 1)
        if isinstance(policy, AntiAffinity):
            most = policy.max_per_domain
            if isinstance(most, Fraction):
                most = max(1, int(most * int(counts[0].sum())))
            return fine & (each <= most).all(axis=0)
        if policy.min_domains:
            return fine & ((each > 0).sum(axis=0) >= policy.min_domains)
        return fine & self._even(policy, counts, names, domains, each, [
            p for p in confining if (p.level, policy.level) in (
                ('az', 'rack'), ('az', 'host'))])

    def _even(self, policy, counts, names, domains, each, confining):
        """Return an array [plan]: whether the counts of the eligible domains
        differ by at most the maximum skew. If an affinity confines the plan to
        a zone, only domains of this zone are eligible."""
        fine = np.ones(len(counts), dtype=bool)
        zones = self._domains('az')
        for zone in sorted(set(zones)) if confining else (None,):
            here = [zone in (None, of_host) for of_host in zones]
            eligible = [name in {
                n for n, h, inside in zip(names, self.hosts, here)
                if h.enabled and inside} for name in domains]
            if any(eligible):
                numbers = each[eligible]
                fine &= (counts[:, here].sum(axis=1) == 0) | (
                    numbers.max(axis=0) - numbers.min(axis=0)
                    <= policy.max_skew)
        return fine


def _counted(wanted, snapshot):
    """Return the number of hosts that is counted without a program."""
    kinds = Kinds.of(bind(wanted, snapshot), snapshot, {}, in_time().check)
    return cells(kinds, in_time().check).fewest


def test_no_plan_uses_fewer_hosts_than_the_bound():
    """The bound of two levels never exceeds the minimum number of hosts, and
    often exceeds the bound of each level alone."""
    found = Counter()
    for seed in range(times(4000)):
        chance = random.Random(seed)
        snapshot, wanted = _random_cloud(chance), _random_group(chance)
        least = _AllPlans(wanted, snapshot).least()
        if least is None:
            continue
        bound = _counted(wanted, snapshot)
        assert bound <= least, seed
        with limited('decomposition', nested_scopes=0):
            before = _counted(wanted, snapshot)
        assert before <= bound, seed
        found['plans'] += 1
        found['raised'] += bound > before
        found['exact'] += bound == least
        found['exact before'] += before == least
    assert found['raised'] > found['plans'] / 20
    assert found['exact'] > found['exact before'] + (
        found['plans'] / 20)


def _uneven_zones(chance):
    """Return two zones with hosts of different sizes, and a group of up to
    twelve members."""
    snapshot = cloud(*(host(f'h{number}', zone, 'r', vcpus=chance.randint(
        1, 9)) for number, zone in enumerate(('z1', 'z1', 'z2', 'z2'))),
        levels=('az', 'rack', 'host'))
    return snapshot, group(policies=[
        Spread(level='az', max_skew=chance.randint(0, 3))], groups=[
            group(servers('m', chance.randint(4, 11)), name='a'),
            group(servers('m', 1), name='b')])


def test_ranges_of_the_smallest_number_are_sound():
    """If few ranges are counted, the bound is weaker, but valid."""
    weaker = 0
    for seed in range(times(300)):
        snapshot, wanted = _uneven_zones(random.Random(seed))
        least = _AllPlans(wanted, snapshot).least()
        if least is None:
            continue
        with limited('decomposition', nested_ranges=1):
            bound = _counted(wanted, snapshot)
        assert bound <= least, seed
        weaker += bound < _counted(wanted, snapshot)
    assert weaker


def test_the_best_plan_of_a_small_group_is_recognised(monkeypatch):
    """Greedy construction uses the fewest hosts, and the count proves it.
    Therefore no program is built."""
    def build(*arguments):
        raise AssertionError('a program was solved')

    monkeypatch.setattr(solve, 'search_all_hosts', build)
    snapshot = cloud(*(host(f'{rack}h{number}', zone, rack, vcpus=8)
                       for zone, rack in (('z1', 'a'), ('z1', 'b'),
                                          ('z2', 'c'), ('z2', 'd'))
                       for number in range(3)), levels=('az', 'rack', 'host'))
    wanted = group(servers('node', 20), policies=[
        AntiAffinity(level='rack', max_per_domain=6),
        Spread(level='az', max_skew=0)])
    found = plan(snapshot, wanted, objective='fewest-hosts').objective
    # Each zone has ten members, six in one rack and four in the other.
    assert (found.value, found.bound) == (4, 4)
