# SPDX-License-Identifier: Apache-2.0
"""Questions of several shapes, and the answers of the solver to them.

Run as a program, it prints the answers, so that a test can compare the answers
of two processes. The clock is stopped, so no deadline ends the search.
"""

from dataclasses import replace
from fractions import Fraction
import json
import sys

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.policies.aggregates import Aggregates
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.settings import Improvement, Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.strategies import OBJECTIVES, seeded

SHAPES = ('small', 'middle', 'large')
SMALL = 40
"""Number of small groups with rules of every type."""


def in_use(hosts):
    """Return a cloud of zones and racks, whose hosts differ in usage."""
    return cloud(*(
        host(f'h{n:04}', f'z{n * 3 // hosts}', f'r{n // 10:03}', inventories={
            'VCPU': Inventory(64, used=n * 37 % 60)},
            traits=frozenset({f'CUSTOM_{n % 2}', f'CUSTOM_{n % 3}'}),
            aggregates=frozenset({f'a{n % 2}', f'b{n % 5}'}))
        for n in range(hosts)), levels=('az', 'rack', 'host'))


def tiers(count):
    """Return three groups with the given number of members each."""
    more = ((), (Aggregates(names=frozenset({'a0'})),), ())
    return group(groups=[
        group(servers('few', count // 2, vcpus=1 + tier),
              servers('many', count - count // 2, vcpus=5 + tier,
                      required_traits=frozenset({'CUSTOM_0'})),
              name=f'tier{tier}',
              policies=[AntiAffinity(max_per_domain=2), *more[tier]])
        for tier in range(3)], policies=[
            AntiAffinity(level='rack', max_per_domain=Fraction(1, 4)),
            Spread(level='az', max_skew=4)])


def questions(shape):
    """Generate group, snapshot, placed members and objective of each question.
    """
    if shape == 'small':
        for seed in range(SMALL):
            case = seeded(seed, hosts=6, members=8)
            yield *case.read(), case.placed, OBJECTIVES[seed % 4]
        return
    hosts, count = {'middle': (50, 4), 'large': (1200, 12)}[shape]
    snapshot = in_use(hosts)
    for objective in OBJECTIVES:
        yield tiers(count), snapshot, {}, objective


UNIMPROVED = Settings(improvement=Improvement(failures=0))
"""Settings without the steps that a backend's own clock may end early."""


def answers(asked, threads=1):
    """Return the answer to each question as text, without the time it took."""
    settings = replace(UNIMPROVED, threads=threads, time_limit=3600.0,
                       timer=lambda: 0.0)
    return [repr(_untimed(solve(
        wanted, snapshot, placed=placed, objective=objective,
        settings=settings)))
        for wanted, snapshot, placed, objective in asked]


def _untimed(answer):
    return {name: getattr(answer, name) for name in answer.__slots__
            if name != 'seconds'}


if __name__ == '__main__':
    json.dump([answers(questions(shape)) for shape in SHAPES], sys.stdout)
