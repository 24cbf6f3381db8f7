# SPDX-License-Identifier: Apache-2.0
"""Plans with nested providers agree with exhaustive search.

The comparison enumerates hosts and providers and shares no code with the
solver or with its check.
"""

from collections import Counter
from dataclasses import replace
import itertools

from hypothesis import given, strategies as st
import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.request_group import ISOLATE, NONE, RequestGroup
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.builders import cloud, group, host
from tests.unit.solver.scenario import plan, reasons

CLASSES = ['VGPU', 'CUSTOM_NIC']
TRAITS = ['CUSTOM_A', 'CUSTOM_B']


def card(name, traits=(), parent='', **amounts):
    """Return a provider with ``VGPU=4``, or ``VGPU=Inventory(…)``."""
    return NestedProvider(name, name, parent, FrozenMapping({
        each: amount if isinstance(amount, Inventory) else Inventory(amount)
        for each, amount in amounts.items()}), frozenset(traits))


def with_cards(name, *cards, vcpus=16):
    return replace(host(name, 'r1', vcpus=vcpus), providers=cards)


def wants(suffix='1', required=(), forbidden=(), **amounts):
    return RequestGroup(suffix, FrozenMapping(amounts), frozenset(required),
                        frozenset(forbidden))


def member(name, *groups, count=None, policy=NONE, subtrees=(), **amounts):
    return MemberDescription(name, Requirements(
        FrozenMapping({'VCPU': 1, **amounts}), request_groups=groups,
        group_policy=policy, same_subtree=tuple(map(frozenset, subtrees))),
        count)


def number_planned(snapshot, *groups, policy=NONE, subtrees=(), **amounts):
    """Return the largest number of such members that has a plan."""
    for number in itertools.count(1):
        answer = solve(group(member(
            'gpu', *groups, count=number, policy=policy, subtrees=subtrees,
            **amounts)), snapshot)
        if not isinstance(answer, Plan):
            assert isinstance(answer, Unplaceable)
            return number - 1


@pytest.mark.parametrize('groups, most', [
    # Both cards serve four members each.
    ([wants(VGPU=1)], 8),
    # The third free unit of a card with three of them cannot be used.
    ([wants(VGPU=2)], 4),
    ([wants(VGPU=3)], 2),
    ([wants(VGPU=5)], 0),
    ([wants('1', VGPU=1), wants('2', VGPU=1)], 4),
    ([wants(required=['CUSTOM_A'], VGPU=1)], 4),
    ([wants(forbidden=['CUSTOM_A'], VGPU=1)], 4),
    ([wants(required=['CUSTOM_B'], VGPU=1)], 0),
    ([wants(VGPU=1, CUSTOM_NIC=1)], 3),
    ([wants(VCPU=1)], 8),
])
def test_a_host_takes_as_many_members_as_its_cards_serve(groups, most):
    snapshot = cloud(with_cards(
        'h1', card('one', TRAITS[:1], VGPU=Inventory(5, reserved=1)),
        card('two', VGPU=Inventory(8, used=4), CUSTOM_NIC=3)))
    assert number_planned(snapshot, *groups) == most


def test_a_class_outside_groups_also_comes_from_one_card():
    snapshot = cloud(with_cards('h1', card('one', VGPU=3),
                                card('two', VGPU=3)))
    assert number_planned(snapshot, VGPU=1) == 6
    assert number_planned(snapshot, VGPU=2) == 2
    assert number_planned(snapshot, VGPU=4) == 0


def test_different_groups_of_two_classes_fill_one_card():
    """Two groups of either kind do not fit, but one group of each kind does.
    """
    snapshot = cloud(with_cards('h1', card('one', VGPU=3, CUSTOM_NIC=3)))
    one, two = wants(VGPU=1, CUSTOM_NIC=2), wants(VGPU=2, CUSTOM_NIC=1)
    plan(snapshot, group(member('a', one), member('b', two)))
    for each in one, two:
        assert number_planned(snapshot, each) == 1


def test_isolated_groups_of_two_classes_fill_two_cards():
    """Each member uses both cards, and the members use them crosswise."""
    snapshot = cloud(with_cards('h1', *(
        card(name, VGPU=3, CUSTOM_NIC=3) for name in ('one', 'two'))))
    assert number_planned(
        snapshot, wants('1', VGPU=1, CUSTOM_NIC=2),
        wants('2', VGPU=2, CUSTOM_NIC=1), policy=ISOLATE) == 2


def test_the_largest_single_amount_does_not_limit_several_groups():
    """Each group requests less than Placement's largest amount of one
    allocation, and both together request more."""
    snapshot = cloud(with_cards('h1', card('one', VGPU=Inventory(
        2 ** 31 - 1, allocation_ratio=4.0))))
    half = 2 ** 30
    assert number_planned(
        snapshot, wants('1', VGPU=half), wants('2', VGPU=half)) == 3


@pytest.mark.parametrize('amounts, most', [
    ([4, 4], 4), ([4, 1], 1), ([3, 3, 3], 4), ([4], 0)])
def test_isolated_groups_come_from_different_cards(amounts, most):
    snapshot = cloud(with_cards('h1', *(
        card(str(n), VGPU=amount) for n, amount in enumerate(amounts))))
    assert number_planned(snapshot, wants('1', VGPU=1), wants('2', VGPU=1),
                          policy=ISOLATE) == most


@pytest.mark.parametrize('subtrees, most', [
    # The agents have ten units of packet rate together.
    ([], 10),
    # One agent has a packet rate for six ports and bandwidth for four, the
    # other one a packet rate for four and bandwidth for six.
    ([('bandwidth', 'packets')], 8)])
def test_bandwidth_and_packet_rate_come_from_the_same_agent(subtrees, most):
    snapshot = cloud(with_cards(
        'h1', card('ovs', CUSTOM_NIC=6), card('bridge', (), 'ovs', VGPU=4),
        card('sriov', CUSTOM_NIC=4), card('port 1', (), 'sriov', VGPU=3),
        card('port 2', (), 'sriov', VGPU=3)))
    assert number_planned(
        snapshot, wants('bandwidth', VGPU=1), wants('packets', CUSTOM_NIC=1),
        subtrees=subtrees) == most


def test_two_ports_on_two_switches_are_two_subtrees():
    """A member has two sets of groups. The sets may use different subtrees."""
    snapshot = cloud(with_cards('h1', *(
        each for switch in ('a', 'b') for each in (
            card(f'{switch}-agent', CUSTOM_NIC=2),
            card(f'{switch}-port', (), f'{switch}-agent', VGPU=2)))))
    groups = [wants('bandwidth1', VGPU=1), wants('packets1', CUSTOM_NIC=1),
              wants('bandwidth2', VGPU=1), wants('packets2', CUSTOM_NIC=1)]
    sets = [('bandwidth1', 'packets1'), ('bandwidth2', 'packets2')]
    assert number_planned(snapshot, *groups, subtrees=sets) == 2
    assert number_planned(snapshot, *groups, subtrees=sets,
                          policy=ISOLATE) == 2


def test_the_reason_names_the_groups_of_one_subtree():
    snapshot = cloud(with_cards('h1', card('a', CUSTOM_NIC=2),
                                card('b', VGPU=2)))
    found = reasons(snapshot, group(member(
        'gpu', wants('1', VGPU=1), wants('2', CUSTOM_NIC=1),
        subtrees=[('1', '2')])))
    assert 'of one subtree' in ' '.join(found.values())


def test_members_use_the_hosts_that_have_cards():
    snapshot = cloud(host('plain', 'r1'),
                     with_cards('gpu', card('one', VGPU=2)),
                     with_cards('full', card('two', VGPU=Inventory(
                         2, used=2))))
    plan(snapshot, group(member('a', wants(VGPU=1), count=2))).uses('gpu')


def test_a_card_serves_members_of_different_demands_once():
    """Both cards serve the first member, but only one serves the second."""
    snapshot = cloud(
        with_cards('h1', card('one', VGPU=1), card('two', TRAITS[:1], VGPU=1)))
    asked = group(member('any', wants(VGPU=1)),
                  member('a', wants(required=TRAITS[:1], VGPU=1)))
    plan(snapshot, asked).uses('h1')
    third = group(*asked.members, member('another', wants(VGPU=1)))
    assert isinstance(solve(third, snapshot), Unplaceable)


def test_the_reason_names_what_the_cards_lack():
    snapshot = cloud(with_cards('h1', card('one', VGPU=2)))
    found = reasons(snapshot, group(member('gpu', wants(VGPU=1), count=3)))
    assert '1 VGPU' in ' '.join(found.values())


def test_different_amounts_that_do_not_fit_together_are_not_planned():
    """The total is six units, but after the members of two units, no card has
    room for three more units."""
    snapshot = cloud(with_cards('h1', card('one', VGPU=3), card(
        'two', VGPU=3)), with_cards('h2', card('three', VGPU=2)))
    asked = group(member('two', wants(VGPU=2), count=3))
    plan(snapshot, asked).uses('h1', 'h2')
    odd = group(*asked.members, member('one', wants(VGPU=1), count=3))
    assert isinstance(solve(odd, snapshot), (Unplaceable, Unknown))


def test_the_check_finds_a_host_that_cannot_serve_its_members():
    snapshot = cloud(with_cards('h1', card('one', VGPU=3),
                                card('two', VGPU=3)))
    asked = group(member('two', wants(VGPU=2), count=2),
                  member('three', wants(VGPU=2)))
    (reason,) = check(asked, snapshot, {
        each.path: 'h1' for each in asked.all_members()})
    assert 'the providers of host h1 cannot give' in reason.message
    assert not check(asked.only(['two-0', 'two-1']), snapshot, {
        'two-0': 'h1', 'two-1': 'h1'})


def test_members_that_stay_are_counted_by_the_snapshot():
    snapshot = cloud(with_cards('h1', card('one', VGPU=Inventory(
        2, used=1))))
    asked = group(member('gpu', wants(VGPU=1), count=2))
    plan(snapshot, asked, placed={'gpu-0': 'h1'}).uses('h1')
    more = group(member('gpu', wants(VGPU=1), count=3))
    assert isinstance(solve(more, snapshot, placed={'gpu-0': 'h1'}),
                      Unplaceable)


def test_members_without_groups_are_planned_as_on_hosts_without_trees():
    plain = cloud(*(host(f'h{n}', f'r{n}', vcpus=3) for n in range(3)))
    trees = replace(plain, hosts=tuple(
        replace(each, providers=(card('one', VGPU=2),))
        for each in plain.hosts))
    asked = group(member('a', count=4))
    first, second = (solve(asked, each) for each in (plain, trees))
    assert first.hosts() == second.hosts()
    assert first.objective == second.objective


def cards():
    return st.builds(
        lambda name, traits, amounts: card(name, traits, **amounts),
        st.uuids().map(str), st.lists(st.sampled_from(TRAITS), unique=True),
        st.dictionaries(st.sampled_from(CLASSES), st.integers(1, 2),
                        min_size=1))


def unit_groups():
    """Return a strategy of groups that request one unit of one class."""
    return st.builds(
        lambda name, traits: wants('', traits, **{name: 1}),
        st.sampled_from(CLASSES),
        st.lists(st.sampled_from(TRAITS), max_size=1))


def any_groups():
    return st.builds(
        lambda amounts, traits: wants('', traits, **amounts),
        st.dictionaries(st.sampled_from(CLASSES), st.integers(1, 2),
                        min_size=1),
        st.lists(st.sampled_from(TRAITS), max_size=1))


@st.composite
def forests(draw):
    """Draw providers, some of which are children of the previous one."""
    found = []
    for each in draw(st.lists(cards(), max_size=3)):
        below = found and draw(st.booleans())
        found.append(replace(each, parent=found[-1].uuid) if below else each)
    return found


def trees(groups, subtrees=st.just(False)):
    hosts = st.lists(forests(), min_size=1, max_size=2)
    members = st.lists(st.tuples(
        st.lists(groups, min_size=1, max_size=2),
        st.sampled_from([NONE, ISOLATE]), subtrees), min_size=1, max_size=3)
    return st.tuples(hosts, members)


def question(case):
    hosts, members = case
    return cloud(*(with_cards(f'h{n}', *each)
                   for n, each in enumerate(hosts))), group(*(
                       member(f'm{n}', *(replace(each, suffix=str(i))
                                         for i, each in enumerate(groups)),
                              policy=policy, subtrees=[
                                  ('0', '1')] if together and len(
                                      groups) > 1 else [])
                       for n, (groups, policy, together)
                       in enumerate(members)))


def possible(snapshot, asked):
    """Return whether any assignment of members to hosts, and of groups to
    providers, is valid."""
    members = asked.all_members()
    return any(
        all(_served(each, [m for m, name in zip(members, where)
                           if name == each.name]) for each in snapshot.hosts)
        for where in itertools.product(
            [each.name for each in snapshot.hosts], repeat=len(members)))


def _served(host, members):
    wanted = [(m.path, m.requirements.group_policy, each)
              for m in members for each in m.requirements.request_groups]
    for chosen in itertools.product(host.providers, repeat=len(wanted)):
        taken = Counter()
        for (_, _, each), provider in zip(wanted, chosen):
            for name, amount in each.resources.items():
                taken[provider.uuid, name] += amount
        pairs = [(path, provider.uuid) for (path, policy, _), provider
                 in zip(wanted, chosen) if policy == ISOLATE]
        if not _together(host, wanted, members, chosen):
            continue
        if len(set(pairs)) == len(pairs) and all(
                each.required_traits <= provider.traits
                for (_, _, each), provider in zip(wanted, chosen)) and all(
                    amount <= (provider.inventories[name].total
                               if name in provider.inventories else 0)
                    for provider in host.providers
                    for (uuid, name), amount in taken.items()
                    if uuid == provider.uuid):
            return True
    return False


def _together(host, wanted, members, chosen):
    """Return whether the providers of each set are one provider and its
    descendants."""
    parents = {each.uuid: each.parent for each in host.providers}
    for each in members:
        for suffixes in each.requirements.same_subtree:
            own = {card.uuid for (path, _, one), card in zip(wanted, chosen)
                   if path == each.path and one.suffix in suffixes}
            if not any(all(top in _upwards(card, parents) for card in own)
                       for top in own):
                return False
    return True


def _upwards(card, parents):
    while card:
        yield card
        card = parents[card]


@examples(60)
@given(trees(unit_groups()).map(question))
def test_groups_of_one_unit_are_planned_exactly_if_possible(case):
    snapshot, asked = case
    answer = solve(asked, snapshot)
    assert not isinstance(answer, Unknown)
    assert isinstance(answer, Plan) == possible(snapshot, asked)
    if isinstance(answer, Plan):
        assert not check(asked, snapshot, answer.hosts())


def equal_members(case):
    hosts, groups, number = case
    return question((hosts, [(groups, ISOLATE, False)] * number))


@examples(200)
@given(st.tuples(st.lists(forests(), min_size=1, max_size=2), st.lists(
    unit_groups(), min_size=2, max_size=3), st.integers(2, 3)).map(
        equal_members))
def test_equal_members_with_isolated_groups_are_planned_exactly(case):
    snapshot, asked = case
    assert isinstance(solve(asked, snapshot), Plan) == possible(
        snapshot, asked)


def test_isolated_groups_of_two_classes_use_the_same_providers():
    """The providers can serve groups of both classes at the same time, for
    different members."""
    snapshot = cloud(with_cards(
        'h0', card('p1', VGPU=1, CUSTOM_NIC=1),
        card('p2', ['CUSTOM_A'], VGPU=1, CUSTOM_NIC=1),
        card('p3', ['CUSTOM_A'], VGPU=2, CUSTOM_NIC=1)))
    assert number_planned(
        snapshot, wants('0', ['CUSTOM_A'], VGPU=1), wants('1', CUSTOM_NIC=1),
        policy=ISOLATE) == 3


@examples(60)
@given(trees(any_groups(), st.booleans()).map(question))
def test_no_plan_is_impossible_and_no_possible_group_is_refused(case):
    snapshot, asked = case
    answer = solve(asked, snapshot)
    if isinstance(answer, Plan):
        assert possible(snapshot, asked)
    if isinstance(answer, Unplaceable):
        assert not possible(snapshot, asked)


@examples(60)
@given(trees(any_groups(), st.booleans()).map(question))
def test_the_check_accepts_exactly_what_is_possible(case):
    snapshot, asked = case
    alone = replace(snapshot, hosts=snapshot.hosts[:1])
    where = {each.path: 'h0' for each in asked.all_members()}
    assert (not check(asked, alone, where)) == possible(alone, asked)
