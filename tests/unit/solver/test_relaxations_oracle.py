# SPDX-License-Identifier: Apache-2.0
"""Relaxations of random groups against exhaustive search: each change makes
the group fit, and no smaller change does if the answer reports this as proved.
"""

from dataclasses import replace
import itertools
import re

from hypothesis import assume, given

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import Unplaceable
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.solver.clocks import standing
from tests.unit.solver import oracle
from tests.unit.solver.strategies import cases

REQUIREMENTS = ('availability_zone', 'aggregates', 'location', 'traits')


def possible(group, snapshot):
    """Return whether any placement satisfies all hard rules."""
    return any(oracle.violations(group, snapshot, {}, where) is not None
               for where in oracle.placements(group, snapshot, {}))


def part(document, position):
    """Return the (list or object, key) of a position, e.g.
    groups[0].members[1]."""
    *above, last = re.findall(r'\w+', position)
    for key in above:
        document = document[int(key) if key.isdecimal() else key]
    return document, int(last) if last.isdecimal() else last


def positions(group, place=''):
    """Generate the position of every hard rule that could be a preference,
    from the document."""
    for key in ('policies', 'relationships'):
        for n, rule in enumerate(group.get(key, ())):
            if 'weight' not in rule and not rule['type'].startswith('soft-'):
                yield f'{place}{key}[{n}]'
    for n, member in enumerate(group.get('members', ())):
        for key in REQUIREMENTS:
            if key in member:
                yield f'{place}members[{n}].{key}'
    for n, nested in enumerate(group.get('groups', ())):
        yield from positions(nested, f'{place}groups[{n}].')


def counts(group, place=''):
    """Generate (position, count) of every member description with a count."""
    for n, member in enumerate(group.get('members', ())):
        if 'count' in member:
            yield f'{place}members[{n}].count', member['count']
    for n, nested in enumerate(group.get('groups', ())):
        yield from counts(nested, f'{place}groups[{n}].')


def softened(case, rules):
    """Return the group with these rules changed into preferences. Requirements
    of members are removed."""
    changed = case.copy()
    for position in rules:
        document, key = part(changed.group, position)
        if key in REQUIREMENTS:
            del document[key]
        else:
            document[key]['weight'] = 1.0
    return changed.read()[0]


def counted(case, position, count):
    changed = case.copy()
    document, key = part(changed.group, position)
    document[key] = count
    return changed.read()[0]


def accepted(case, position, count):
    """Return whether the document may have this count: no relationship names a
    server that no longer exists."""
    try:
        counted(case, position, count)
    except InvalidDocument:
        return False
    return True


def added(snapshot, places):
    """Return the snapshot with additional empty hosts.

    :param places: (host of the same kind, location, host in the same domains)
        of each additional host
    """
    return replace(snapshot, hosts=(*snapshot.hosts, *(
        replace(kind, name=f'extra-{n}', servers=0, location=location,
                aggregates=beside.aggregates, labels=beside.labels,
                availability_zone=beside.availability_zone,
                inventories=FrozenMapping({
                    name: replace(each, used=0)
                    for name, each in kind.inventories.items()}))
        for n, (kind, location, beside) in enumerate(places))))


def unplaceable(case):
    """Return group, snapshot and relaxations of a case without a plan."""
    assume(not case.unknown)
    group, snapshot = case.read()
    answer = solve(group, snapshot, settings=Settings(timer=standing))
    assume(isinstance(answer, Unplaceable))
    return group, snapshot, relax(group, snapshot, reasons=answer.reasons,
                                  settings=Settings(timer=standing))


@examples(60)
@given(cases(hosts=3))
def test_rules_as_preferences(case):
    _, snapshot, found = unplaceable(case)
    singles = set()
    for each in found.preferences:
        rules = [rule.position for rule in each.rules]
        assert possible(softened(case, rules), snapshot)
        if len(rules) == 1:
            singles.update(rules)
        for rule in rules if each.smallest and len(rules) > 1 else ():
            assert not possible(softened(case, [rule]), snapshot)
    for position in {*positions(case.group)} - singles - {*found.undecided}:
        assert not possible(softened(case, [position]), snapshot)


@examples(60)
@given(cases(hosts=3))
def test_lower_counts(case):
    _, snapshot, found = unplaceable(case)
    known = {each.position: each for each in found.counts}
    for position, count in counts(case.group):
        fits = [number for number in range(1, count)
                if accepted(case, position, number)
                and possible(counted(case, position, number), snapshot)]
        each = known.get(position)
        if each is None:
            assert not fits or position in found.undecided
            continue
        assert each.instead_of == count and each.count in fits
        assert each.count == max(fits) or not each.largest


@examples(60)
@given(cases(hosts=3))
def test_more_hosts(case):
    group, snapshot, found = unplaceable(case)
    hosts = {host.name: host for host in snapshot.hosts}
    enabled = [host for host in snapshot.hosts if host.enabled]
    beside = [(kind, host.location, host)
              for kind in enabled for host in enabled]
    if found.hosts is None:
        for each in beside if 'hosts' not in found.undecided else ():
            assert not possible(group, added(snapshot, [each]))
        return
    assert possible(group, added(snapshot, [
        (hosts[found.hosts.like], each.location, hosts[each.beside])
        for each in found.hosts.added for _ in range(each.hosts)]))
    assert found.hosts.hosts == sum(each.hosts for each in found.hosts.added)
    for number in range(1, found.hosts.hosts if found.hosts.smallest else 1):
        for places in itertools.combinations_with_replacement(
                beside, min(number, 2)):
            if len({kind.name for kind, *_ in places}) == 1:
                assert not possible(group, added(snapshot, places))
