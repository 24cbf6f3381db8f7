# SPDX-License-Identifier: Apache-2.0
"""Changes of a random case whose effect on the optimum is known."""

from tests.unit.solver import random_rules
from tests.unit.solver.strategies import Case

NARROWING = ('affinity', 'location', 'traits', 'aggregates',
             'availability_zone')
"""Types of policies that, if they are hard, restrict the eligible domains."""


def groups(document):
    """Generate the documents of a group and of all groups nested in it."""
    yield document
    for nested in document.get('groups', ()):
        yield from groups(nested)


def rules(case):
    """Generate all policies and relationships, in the order in which a plan
    lists its preferences."""
    for group in groups(case.group):
        yield from group.get('policies', ())
        yield from group.get('relationships', ())


def has(case, name):
    return any(rule['type'] == name for rule in rules(case))


def has_skew(case, level=None):
    """Return whether a rule limits the skew over domains (of the level)."""
    return any('max_skew' in rule and level in (None, rule['level'])
               for rule in rules(case))


def moves_spreads(case):
    """Return whether a hard policy restricts the eligible domains of spreads.
    """
    return any(
        rule['type'] in NARROWING and 'weight' not in rule
        for group in groups(case.group) for rule in group['policies'])


def renamed(case, chance):
    """Return the case with other names for hosts, zones, racks, groups and
    members."""
    case = case.copy()
    names = {name: f'{chance.randint(0, 999)}.{name}'
             for name in ('az1', 'az2', 'r1', 'r2', 'r3', *(
                 host['name'] for host in case.inventory['hosts']))}
    parts = {name: f'{chance.choice("abyz")}_{name}'
             for group in groups(case.group) for name in (
                 group['name'], *(m['name'] for m in group.get(
                     'members', ())))}

    def place(path):
        return '/'.join(names[name] for name in path.split('/'))

    def member(path):
        # The path of a server ends in the name of its description and a
        # number.
        return '/'.join(_renamed(name, parts) for name in path.split('/'))

    for host in case.inventory['hosts']:
        host['name'] = names[host['name']]
        host['location'] = [names[name] for name in host['location']]
    for link in case.inventory.get('links', ()):
        link['domain'] = place(link['domain'])
    for group in groups(case.group):
        group['name'] = parts[group['name']]
        for each in group.get('members', ()):
            each['name'] = parts[each['name']]
            _replace(each, 'location', place)
            _replace(each, 'availability_zone', place)
        for rule in group['policies']:
            _replace(rule, 'path', place)
            _replace(rule, 'availability_zone', place)
        for rule in group['relationships']:
            rule['between'] = [member(path) for path in rule['between']]
    return Case(case.group, case.inventory,
                {member(path): names[host]
                 for path, host in case.placed.items()},
                frozenset(names[name] for name in case.unknown))


def _renamed(name, parts):
    if name in parts:
        return parts[name]
    plain, number = name.rsplit('-', 1)
    return f'{parts[plain]}-{number}'


def _replace(document, key, change):
    if key in document:
        document[key] = change(document[key])


def reordered(case, chance):
    """Return the case with hosts, links, groups, members and rules in another
    order."""
    case = case.copy()
    chance.shuffle(case.inventory['hosts'])
    chance.shuffle(case.inventory.get('links', []))
    for group in groups(case.group):
        for key in ('members', 'groups', 'policies', 'relationships'):
            chance.shuffle(group.get(key, []))
        for rule in group['relationships']:
            chance.shuffle(rule['between'])
    return case


def with_twin(case, chance, enabled):
    """Return the case with an additional empty host in the same domains as
    another host."""
    case = case.copy()
    able = [h for h in case.inventory['hosts']
            if h['enabled'] and h['name'] not in case.unknown]
    model = chance.choice(able or case.inventory['hosts'])
    case.inventory['hosts'].append({
        **model, 'name': 'twin', 'servers': 0,
        'enabled': enabled and model['enabled'], 'resources': {
            name: {key: value for key, value in amounts.items()
                   if key != 'used'}
            for name, amounts in model['resources'].items()}})
    if model['name'] in case.unknown:
        return Case(case.group, case.inventory, case.placed,
                    case.unknown | {'twin'})
    return case


def spread_over_racks(hosts, members, max_skew):
    return Case({
        'name': 'shop', 'members': [
            {'name': 'web', 'count': members, 'resources': {'VCPU': 1}}],
        'policies': [{'type': 'spread', 'level': 'rack',
                      'max_skew': max_skew}]},
        {'levels': ['rack', 'host'], 'hosts': hosts})


def tightened(case, chance):
    """Return the case with one limit of one rule tightened, or None if no rule
    has a limit that can be tightened."""
    case = case.copy()
    found = [(rule, key) for rule in rules(case) for key in TIGHTER
             if key in rule and TIGHTER[key](rule[key]) != rule[key]]
    if not found:
        return None
    rule, key = chance.choice(found)
    rule[key] = TIGHTER[key](rule[key])
    return case


TIGHTER = {
    'max_per_domain': lambda most: {
        '50%': '34%', '34%': '10%'}.get(most, most) if isinstance(
            most, str) else max(1, most - 1),
    'max_skew': lambda most: max(0, most - 1),
    'min_domains': lambda least: least + 1,
    'mbps': lambda mbps: mbps * 2,
}


def fuller(case, chance):
    """Return the case with less free capacity on one host and on some links.
    """
    case = case.copy()
    host = chance.choice(case.inventory['hosts'])
    amounts = host['resources']['VCPU']
    amounts['used'] = amounts.get('used', 0) + chance.choice((1, 2, 4))
    for link in case.inventory.get('links', ()):
        if chance.random() > 0.5:
            link['uplink_mbps'] //= 2
    return case


def with_rule(case, chance):
    case = case.copy()
    levels = [*case.inventory['levels'], *(
        label for label in ('feed', 'power') if any(
            label in host['labels'] for host in case.inventory['hosts']))]
    group = chance.choice(list(groups(case.group)))
    group['policies'].append(random_rules.policy(chance, levels))
    return case


def all_hard(case):
    case = case.copy()
    for rule in rules(case):
        rule.pop('weight', None)
        rule['type'] = rule['type'].removeprefix('soft-')
    return case


def all_weighted(case):
    case = case.copy()
    for number, rule in enumerate(rules(case)):
        rule['weight'] = 1 + number
    return case


def weighed(case, factor, number=None):
    """Return the case with all weights, or the weight of one preference,
    multiplied by the factor."""
    case = case.copy()
    weighted = [rule for rule in rules(case)
                if 'weight' in rule or rule['type'].startswith('soft-')]
    for n, rule in enumerate(weighted):
        if number in (None, n):
            rule['weight'] = rule.get('weight', 1) * factor
    return case
