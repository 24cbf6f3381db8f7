# SPDX-License-Identifier: Apache-2.0
"""The check and the encoding of the relationship bandwidth."""

from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.group import Group
from nova_holistic.policies.bandwidth import Bandwidth
from tests.unit.builders import cloud, group, host, on, servers
from tests.unit.policies.encoding import cost_of


def racks(*links):
    return cloud(host('r1h1', 'r1'), host('r1h2', 'r1'), host('r2h1', 'r2'),
                 links=links)


RACKS = racks()


def scope_of(*relationships, web=2, db=2):
    return next(group(servers('web', web), servers('db', db),
                      relationships=relationships).scopes())


def pipe(mbps=100, level='rack', weight=None, between=('web', 'db')):
    return Bandwidth(between=between, mbps=mbps, level=level, weight=weight)


APART = {'web_0': 'r1h1', 'web_1': 'r1h2', 'db_0': 'r1h1', 'db_1': 'r2h1'}
"""Of four pairs of web and db, the two with db-1 are in different racks."""


def test_each_mbit_between_racks_violates_a_weighted_bandwidth():
    policy = pipe(weight=1)
    placed = on(RACKS, **APART)
    found = policy.check(scope_of(policy), placed, RACKS)
    assert found.count == 200
    assert found.messages == (
        '2 pairs of servers share no domain of level rack: 200 Mbit/s',)
    assert cost_of(policy, scope_of(policy), RACKS, placed) == 200
    assert pipe(weight=1, level='host').check(
        scope_of(), placed, RACKS).count == 300


def test_a_link_with_exactly_enough_capacity_is_no_violation():
    enough = racks(Link(('r1',), 1000, 800), Link(('r2',), 200))
    policy = pipe()
    placed = on(enough, **APART)
    assert policy.check(scope_of(policy), placed, enough).count == 0
    assert cost_of(policy, scope_of(policy), enough, placed) == 0


def test_each_mbit_over_a_link_is_a_violation():
    busy = racks(Link(('r1',), 1000, 850))
    policy = pipe()
    placed = on(busy, **APART)
    found = policy.check(scope_of(policy), placed, busy)
    assert found.count == 50
    assert found.messages == (
        'the uplink of rack r1 would carry 200 Mbit/s; 850 of its 1000 are '
        'used by others',)
    assert cost_of(policy, scope_of(policy), busy, placed) is None


def test_traffic_counts_on_the_uplinks_of_both_racks():
    thin = racks(Link(('r2',), 199))
    placed = on(thin, **APART)
    policy = pipe()
    assert policy.check(scope_of(policy), placed, thin).count == 1
    assert cost_of(policy, scope_of(policy), thin, placed) is None


def test_a_rack_without_a_link_has_no_limit():
    policy = pipe(mbps=10**7)
    placed = on(RACKS, **APART)
    assert policy.check(scope_of(policy), placed, RACKS).count == 0
    assert cost_of(policy, scope_of(policy), RACKS, placed) == 0


def test_members_in_one_rack_need_no_link():
    dead = racks(Link(('r1',), 0), Link(('r2',), 0))
    policy = pipe()
    placed = on(dead, web_0='r1h1', web_1='r1h2', db_0='r1h1', db_1='r1h2')
    assert policy.check(scope_of(policy), placed, dead).count == 0
    assert cost_of(policy, scope_of(policy), dead, placed) == 0


def test_a_link_overloaded_by_others_allows_no_more_traffic():
    full = racks(Link(('r1',), 100, 500))
    policy = pipe()
    near = on(full, web_0='r1h1', web_1='r1h2', db_0='r1h1', db_1='r1h2')
    assert policy.check(scope_of(policy), near, full).count == 0
    assert cost_of(policy, scope_of(policy), full, near) == 0
    far = on(full, **APART)
    assert policy.check(scope_of(policy), far, full).count == 200
    assert cost_of(policy, scope_of(policy), full, far) is None


def test_relationships_on_one_link_add_up():
    links = racks(Link(('r1',), 250))
    both = (pipe(mbps=100), pipe(mbps=25, between=('web-0', 'db')))
    scope = scope_of(*both)
    placed = on(links, **APART)
    # 2 pairs of 100, and one more of 25.
    for policy in both:
        assert policy.check(scope, placed, links).count == 0
        assert cost_of(policy, scope, links, placed) == 0
    tight = racks(Link(('r1',), 224))
    for policy in both:
        assert policy.check(scope, placed, tight).count == 1
    # The first relationship reports the violation of both.
    placed = on(tight, **APART)
    assert cost_of(both[0], scope, tight, placed) is None


def test_the_load_of_other_relationships_follows_their_members():
    links = racks(Link(('r1',), 110))
    policy = pipe(between=('web-1', 'db-1'))
    scope = scope_of(policy, pipe(mbps=25, between=('web-0', 'db-0')))
    placed = on(links, **APART)
    moved = on(links, **APART | {'db_0': 'r2h1'})
    lost = {path: host for path, host in moved.items() if path != 'web-0'}
    # 100 Mbit/s, and another 25 if web-0 and db-0 are in different racks.
    for placement, count in ((placed, 0), (moved, 15), (lost, 0), (moved, 15)):
        assert policy.check(scope, placement, links).count == count


def test_relationships_of_outer_and_inner_groups_add_up():
    links = racks(Link(('r1',), 150))
    inner = pipe(between=('a', 'b'))
    outer = pipe(between=('web', 'db/a'))
    top = group(servers('web'), groups=[Group(
        'db', (servers('a'), servers('b')), relationships=(inner,))],
        relationships=(outer,))
    whole, nested = top.scopes()
    placed = on(links, web='r1h1') | {
        path: links.hosts[n] for path, n in (('db/a', 2), ('db/b', 0))}
    assert outer.check(whole, placed, links).count == 50
    assert inner.check(nested, placed, links).count == 50


def test_weighted_and_other_level_relationships_are_not_added():
    links = racks(Link(('r1',), 200), Link(('r1', 'r1h1'), 0))
    hard = pipe()
    scope = scope_of(hard, pipe(weight=1), pipe(level='host'))
    placed = on(links, **APART)
    assert hard.check(scope, placed, links).count == 0
    assert cost_of(hard, scope, links, placed) == 0


def test_a_label_with_the_name_of_a_rack_has_no_links():
    hosts = (host('a', 'r1', labels={'feed': 'r1'}),
             host('b', 'r1', labels={'feed': 'r2'}))
    feeds = cloud(*hosts, links=[Link(('r1',), 0)])
    policy = pipe(level='feed')
    scope = scope_of(policy, web=1, db=1)
    placed = {'web-0': hosts[0], 'db-0': hosts[1]}
    assert policy.check(scope, placed, feeds).count == 0
    assert pipe(level='feed', weight=1).check(
        scope, placed, feeds).count == 100


def test_a_host_without_a_rack_is_a_violation():
    lost = cloud(host('a', 'r1'), host('b'))
    policy = pipe()
    scope = scope_of(policy, web=1, db=1)
    placed = {'web-0': lost.hosts[0], 'db-0': lost.hosts[1]}
    found = policy.check(scope, placed, lost)
    assert found.count == 1
    assert found.messages == (
        'db-0 is on host b, which is in no domain of level rack',)
    assert cost_of(policy, scope, lost, placed) is None
    both = dict.fromkeys(placed, lost.hosts[1])
    assert pipe(weight=1).check(scope, both, lost).count == 100


def test_unplaced_members_send_no_traffic():
    thin = racks(Link(('r1',), 0))
    placement = on(thin, web_0='r1h1', db_0='r1h2')
    assert pipe().check(scope_of(pipe()), placement, thin).count == 0
    assert pipe(weight=1).check(scope_of(), placement, thin).count == 0


def test_traffic_of_any_number_of_servers_is_counted():
    # 5 and 6 servers: the counts need digits of weight 1, 2 and 2.
    for n in range(6):
        names = {f'web_{i}': 'r1h1' if i < n else 'r2h1' for i in range(5)}
        names.update({f'db_{i}': 'r1h2' if i < 4 else 'r2h1'
                      for i in range(6)})
        together = n * 4 + (5 - n) * 2
        policy = pipe(mbps=1, weight=1)
        scope = scope_of(policy, web=5, db=6)
        placed = on(RACKS, **names)
        assert policy.check(scope, placed, RACKS).count == 30 - together
        assert cost_of(policy, scope, RACKS, placed) == 30 - together


def test_a_level_outside_the_tree_may_have_links():
    def feeds(*links):
        return cloud(host('h1', 'r1', labels={'feed': 'A'}),
                     host('h2', 'r1', labels={'feed': 'B'}), links=links)

    policy = pipe(level='feed')
    scope = scope_of(policy, web=1, db=1)
    for links, count in (
            ([Link(('A',), 100, 0, 'feed')], 0),
            ([Link(('A',), 99, 0, 'feed')], 1),
            ([Link(('A',), 100, 40, 'feed'), Link(('B',), 0, 0, 'feed')],
             140),
            # Neither the tree nor another label has links of this level.
            ([Link(('r1',), 0), Link(('A',), 0, 0, 'power')], 0)):
        snapshot = feeds(*links)
        placed = on(snapshot, web_0='h1', db_0='h2')
        assert policy.check(scope, placed, snapshot).count == count
        assert cost_of(policy, scope, snapshot, placed) == (
            None if count else 0)


def test_domains_without_a_link_give_a_warning():
    policy = pipe()
    for links, number in (([], 2), ([Link(('r1',), 1000)], 1),
                          ([Link(('r1',), 1000), Link(('r2',), 1000)], 0)):
        snapshot = racks(*links)
        assert policy.warnings(
            scope_of(policy), on(snapshot, **APART), snapshot) == ((
                f'bandwidth between web and db is not limited in {number} of '
                'the 2 domains of level rack whose uplinks it uses: the '
                'inventory has no links for them',) if number else ())
    near = on(RACKS, web_0='r1h1', web_1='r1h2', db_0='r1h1', db_1='r1h2')
    assert policy.warnings(scope_of(policy), near, RACKS) == ()
    weighted = pipe(weight=1)
    assert weighted.warnings(
        scope_of(weighted), on(RACKS, **APART), RACKS) == ()
