# SPDX-License-Identifier: Apache-2.0
import itertools

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.plan import Unplaceable
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies import load_policy_types
from nova_holistic.policies.location import Location
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, on, servers
from tests.unit.policies.encoding import cost_of
from tests.unit.solver.scenario import plan

TYPES = load_policy_types()

# Rack r3 has no enabled host. Host d is in no rack and on no feed.
RACKS = cloud(
    host('a', 'r1', labels={'feed': 'A'}), host('b', 'r2', labels={
        'feed': 'B'}, traits=frozenset({'T'})),
    host('c', 'r3', labels={'feed': 'A'}, enabled=False), host('d'))


def three_racks(**fields):
    """Racks r1, r2 and r3 with one host each: h1, h2 and h3."""
    return cloud(*(host(f'h{n}', f'r{n}', **fields) for n in (1, 2, 3)))


def even(level='rack', skew=1, **keys):
    return Spread(level=level, max_skew=skew, **keys)


def scope_of(*members, **keys):
    return next(group(*members, **keys).scopes())


def violations(policy, names, snapshot, missing=0, **keys):
    """Return the violations of members on hosts such as ``h1 h1 h2``, and
    assert that check and encoding agree.

    :param missing: number of members that are not placed
    """
    names = names.split()
    scope = scope_of(servers('node', len(names) + missing),
                     policies=[policy], **keys)
    placed = on(snapshot, **{f'node_{i}': n for i, n in enumerate(names)})
    found = policy.check(scope, placed, snapshot)
    assert bool(found.messages) == bool(found.count)
    if not missing:
        soft = Spread(level=policy.level, max_skew=policy.max_skew,
                      min_domains=policy.min_domains, weight=1.0)
        assert cost_of(soft, scope, snapshot, placed) == found.count
        assert (cost_of(policy, scope, snapshot, placed) is None) == (
            found.count > 0)
    return found.count


@pytest.mark.parametrize('skew, names, expected', [
    (1, 'h1 h2 h3', 0), (1, 'h1 h1 h2 h3', 0), (1, 'h1 h2', 0),
    (1, 'h1 h1 h2', 1),         # h3 is eligible, and empty
    (1, 'h1 h1 h1 h1 h2', 3), (2, 'h1 h1 h2', 0), (2, 'h1 h1 h1', 1),
    (0, 'h1 h2 h3', 0), (0, 'h1 h2', 1), (9, 'h1 h1 h1', 0)])
def test_each_unit_above_max_skew_is_a_violation(skew, names, expected):
    assert violations(even(skew=skew), names, three_racks()) == expected


@pytest.mark.parametrize('least, names, expected', [
    (1, 'h1 h1', 0), (2, 'h1 h1', 1), (3, 'h1 h1', 2), (3, 'h1 h2 h3', 0),
    (4, 'h1 h2 h3', 1)])
def test_each_domain_below_min_domains_is_a_violation(least, names, expected):
    assert violations(Spread(level='rack', min_domains=least), names,
                      three_racks()) == expected


def test_violations_of_max_skew_and_min_domains_add_up():
    both = Spread(level='rack', max_skew=1, min_domains=3)
    assert violations(both, 'h1 h1 h1 h2', three_racks()) == 2 + 1


@pytest.mark.parametrize('level', ['rack', 'host', 'feed'])
@pytest.mark.parametrize('keys', [
    {'max_skew': 0}, {'max_skew': 1}, {'min_domains': 2},
    {'max_skew': 1, 'min_domains': 3}])
def test_check_and_encoding_agree_on_every_placement(level, keys):
    for names in itertools.product('abcd', repeat=3):
        violations(Spread(level=level, **keys), ' '.join(names), RACKS)


def test_members_on_hosts_without_a_domain_are_violations():
    assert violations(even(skew=5), 'd d a', RACKS) == 2


# Domains that are eligible for the smallest number.

def test_a_rack_without_an_enabled_host_is_not_eligible():
    assert violations(even(), 'a a b b', RACKS) == 0
    # Members that stay there do not count as violations of the others.
    assert violations(even(), 'c c c a b', RACKS) == 0


def test_a_full_rack_is_eligible():
    tight = cloud(host('a', 'r1'), host('b', 'r2', vcpus=0))
    assert isinstance(solve(
        group(servers('node', 2), policies=[even()]), tight), Unplaceable)
    plan(tight, group(servers('node', 1), policies=[even()])).uses('a')


@pytest.mark.parametrize('requirements', [
    {'required_traits': frozenset({'T'})}, {'location': ('r2',)}])
def test_a_rack_unsuitable_for_all_members_is_not_eligible(requirements):
    nodes = scope_of(servers('node', 3, **requirements))
    placed = on(RACKS, node_0='b', node_1='b', node_2='b')
    assert even().check(nodes, placed, RACKS).count == 0
    plan(RACKS, group(servers('node', 3, **requirements),
                      policies=[even()])).uses('b')


def test_a_rack_suitable_for_one_member_is_eligible():
    both = [servers('any', 1), servers('node', 3, required_traits=frozenset(
        {'T'}))]
    assert isinstance(solve(group(
        *both, policies=[even()]), RACKS), Unplaceable)
    plan(RACKS, group(*both, policies=[even(skew=2)])).uses('a', 'b')


@pytest.mark.parametrize('asks', [
    Traits(has=frozenset({'T'})), Location(path=('r2',))])
def test_hard_policies_above_and_below_make_racks_ineligible(asks):
    nodes = servers('node', 3)
    above = group(groups=[group(nodes, name='db', policies=[even()])],
                  policies=[asks])
    below = group(groups=[group(nodes, name='db', policies=[asks])],
                  policies=[even()])
    same_level = group(nodes, policies=[even(), asks])
    for shop in (above, below, same_level):
        plan(RACKS, shop).uses('b')


def test_a_preference_makes_no_rack_ineligible():
    wish = Traits(has=frozenset({'T'}), weight=100)
    answer = plan(RACKS, group(
        servers('node', 2), policies=[even(), wish])).answer
    assert answer.preferences[0].violations == 1


# Domains inside the domain to which a coarser affinity confines the group.

def zones(**fields):
    """az1 with racks r1 and r2, az2 with racks r1, r2 and r3."""
    return cloud(*(
        host(f'{zone}{rack}', f'az{zone}', f'r{rack}', **fields)
        for zone, rack in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3))),
        levels=('az', 'rack', 'host'))


@pytest.mark.parametrize('nested', [False, True])
def test_affinity_at_zone_level_limits_the_eligible_racks(nested):
    nodes = servers('node', 4)
    if nested:
        shop = group(policies=[Affinity(level='az')], groups=[
            group(nodes, name='db', policies=[even(skew=0)])])
    else:
        shop = group(nodes, policies=[Affinity(level='az'), even(skew=0)])
    # Four members are even over two racks, but not over three or five.
    plan(zones(), shop).uses('11', '12')
    scope = [*shop.scopes()][-1]
    prefix = 'db/' if nested else ''
    three = {f'{prefix}node-{i}': h for i, h in enumerate(
        (*zones().hosts[2:], zones().hosts[2]))}
    assert even(skew=0).check(scope, three, zones()).count == 1


def test_without_a_hard_affinity_all_racks_are_eligible():
    assert isinstance(solve(group(servers('node', 4), policies=[
        even(skew=0)]), zones()), Unplaceable)
    wish = Affinity(level='az', weight=1)
    assert isinstance(solve(group(servers('node', 4), policies=[
        even(skew=0), wish]), zones()), Unplaceable)


def test_a_zone_with_a_full_rack_is_not_chosen():
    # In az1, r2 is full: at most three members differ by at most one.
    full = cloud(*(host(h.name, *h.location, vcpus=0 if h.name == '12' else 9)
                   for h in zones().hosts), levels=('az', 'rack', 'host'))
    plan(full, group(servers('node', 3), policies=[
        Affinity(level='az'), even()])).uses('21', '22', '23')


def test_a_finer_or_equal_affinity_does_not_limit_eligible_racks():
    for level in ('host', 'rack'):
        shop = group(servers('node', 2), policies=[
            Affinity(level=level), even()])
        assert isinstance(solve(shop, three_racks()), Unplaceable)
        assert isinstance(solve(shop, zones()), Unplaceable)
        # The other two racks are eligible, and empty.
        together = on(three_racks(), node_0='h1', node_1='h1')
        assert even().check(next(shop.scopes()), together,
                            three_racks()).count == 1


@pytest.mark.parametrize('feeds, used', [
    ('AAB', ('h1', 'h2')), ('ABA', ('h1', 'h3'))])
def test_affinity_to_a_label_of_whole_racks_limits_eligible_racks(feeds, used):
    # Four members fill two hosts of two. Only the racks on feed A count.
    fed = cloud(*(host(f'h{n}', f'r{n}', labels={'feed': feed}, vcpus=2)
                  for n, feed in enumerate(feeds, 1)))
    plan(fed, group(servers('node', 4), policies=[
        Affinity(level='feed'), even(skew=0)])).uses(*used)


def test_a_label_that_divides_racks_does_not_limit_eligible_racks():
    # Rack r1 is on both feeds, so r2 counts for members on feed A as well.
    def crossed(vcpus):
        return cloud(host('a', 'r1', labels={'feed': 'A'}),
                     host('b', 'r1', labels={'feed': 'B'}, vcpus=vcpus),
                     host('c', 'r2', labels={'feed': 'B'}))

    shop = group(servers('node', 4), policies=[
        Affinity(level='feed'), even(skew=0)])
    plan(crossed(2), shop).uses('b', 'c')
    assert isinstance(solve(shop, crossed(1)), Unplaceable)


# Members that are not placed yet.

@pytest.mark.parametrize('names, missing, expected', [
    ('h1 h1 h1', 0, 2), ('h1 h1 h1', 3, 1), ('h1 h1 h1', 4, 0),
    ('h1', 2, 0), ('h1 h1 h2 h2', 1, 0), ('h1 h1 h1 h2 h2', 1, 1)])
def test_unplaced_members_may_fill_the_gaps(names, missing, expected):
    assert violations(even(), names, three_racks(), missing) == expected


def test_unplaced_members_may_use_more_domains():
    least = Spread(level='rack', min_domains=3)
    assert violations(least, 'h1 h1', three_racks(), missing=2) == 0
    assert violations(least, 'h1 h1', three_racks(), missing=1) == 1


def test_messages_name_the_fullest_and_the_emptiest_domain():
    scope = scope_of(servers('node', 3))
    placed = on(three_racks(), node_0='h1', node_1='h1', node_2='h2')
    both = Spread(level='rack', max_skew=1, min_domains=3)
    assert both.check(scope, placed, three_racks()).messages == (
        'rack r1 holds 2 members and rack r3 0: they may differ by 1',
        'members are in 2 domains of level rack; at least 3 are required')


# In plans.

def test_two_hundred_members_are_even_over_unequal_racks():
    racks = cloud(*(host(f'r{r}h{h}', f'r{r}', vcpus=40)
                    for r in range(8) for h in range(1 + r % 3)))
    assert plan(racks, group(servers('node', 200), policies=[
        even()])).racks() == [25] * 8


def test_min_domains_overrules_the_objective():
    found = plan(three_racks(), group(servers('node', 3), policies=[
        Spread(level='rack', min_domains=2)]), objective='fewest-hosts')
    assert len(found.racks()) == 2


def test_min_domains_above_the_eligible_ones_is_unplaceable():
    shop = group(servers('node', 5), policies=[
        Spread(level='rack', min_domains=4)])
    assert isinstance(solve(shop, three_racks()), Unplaceable)


def test_placed_members_count():
    found = plan(three_racks(), group(servers('node', 4), policies=[
        even()]), placed={'node-0': 'h1', 'node-1': 'h1'})
    assert found.racks() == [1, 1, 2]


def parse(**keys):
    return parse_group({
        'name': 'shop', 'policies': [{'type': 'spread', **keys}],
        'members': [{'name': 'node', 'resources': {'VCPU': 1}}]}, TYPES)


def test_a_document_gives_max_skew_or_min_domains():
    assert parse(max_skew=2).policies == (Spread(max_skew=2),)
    assert parse(level='rack', min_domains=3, weight=2).policies == (
        Spread(level='rack', min_domains=3, weight=2.0),)


@pytest.mark.parametrize('keys, place', [
    ({}, 'policies[0]'), ({'level': 'rack'}, 'policies[0]'),
    ({'max_skew': -1}, 'policies[0].max_skew'),
    ({'max_skew': '1'}, 'policies[0].max_skew'),
    ({'min_domains': 0}, 'policies[0].min_domains'),
    ({'max_skew': 1, 'racks': 2}, 'policies[0].racks')])
def test_an_invalid_key_names_its_position(keys, place):
    with pytest.raises(InvalidDocument) as refused:
        parse(**keys)
    assert refused.value.place == place
