# SPDX-License-Identifier: Apache-2.0
"""Traits that members require or forbid outside their request groups, on hosts
with several providers: the providers have the required traits together, as in
Placement.

The comparison enumerates hosts and providers, and shares no code with the
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
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.builders import cloud, group, host
from tests.unit.solver.scenario import plan, reasons

SSD, OLD = 'STORAGE_DISK_SSD', 'CUSTOM_OLD'
TRAITS = ['CUSTOM_A', 'CUSTOM_B']


def provider(name, *traits, sharing=False, **totals):
    return NestedProvider(name, name, '', FrozenMapping({
        each: Inventory(total) for each, total in totals.items()}),
        frozenset(traits), sharing)


def on(name, *providers, rack='r1', traits=(), vcpus=8):
    return replace(host(name, rack, vcpus=vcpus), providers=providers,
                   traits=frozenset(traits))


def member(name, count=None, required=(), forbidden=(), **amounts):
    return MemberDescription(name, Requirements(
        FrozenMapping({'VCPU': 1, **{
            name: amount for name, amount in amounts.items() if amount}}),
        required_traits=frozenset(required),
        forbidden_traits=frozenset(forbidden)), count)


FAST = provider('fast', SSD, sharing=True, DISK_GB=100)
SLOW = provider('slow', OLD, sharing=True, DISK_GB=100)
STORED = cloud(on('h1', FAST), on('h2', SLOW), on('h3', FAST, traits=[OLD]),
               on('h4', SLOW, traits=[SSD]))


@pytest.mark.parametrize('traits, disk, hosts', [
    ({'required': [SSD]}, 10, {'h1', 'h3', 'h4'}),
    ({'required': [SSD], 'forbidden': [OLD]}, 10, {'h1'}),
    ({'forbidden': [OLD]}, 10, {'h1'}),
    ({'required': [SSD, OLD]}, 10, {'h3', 'h4'}),
    # Without a disk, nothing comes from the storage.
    ({'required': [SSD]}, 0, {'h4'}),
    ({'forbidden': [OLD]}, 0, {'h1', 'h2', 'h4'})])
def test_traits_of_the_storage_count_for_members_that_use_it(
        traits, disk, hosts):
    wanted = member('web', DISK_GB=disk, **traits)
    possible = {each.name for each in STORED.hosts if isinstance(solve(
        group(wanted), replace(STORED, hosts=(each,))), Plan)}
    assert possible == hosts
    assert {each.name for each in STORED.hosts if not check(
        group(wanted), STORED, {'web': each.name})} == hosts
    assert plan(STORED, group(wanted)).hosts['web'] in hosts


def test_only_root_providers_have_traits_of_compute_drivers():
    strange = provider('strange', 'COMPUTE_NODE', sharing=True, DISK_GB=100)
    wanted = group(member('web', required=['COMPUTE_NODE'], DISK_GB=10))
    one, two = on('h1', strange), on('h2', FAST, traits=['COMPUTE_NODE'])
    assert isinstance(solve(wanted, cloud(one)), Unplaceable)
    assert check(wanted, cloud(one), {'web': 'h1'})
    assert plan(cloud(one, two), wanted).hosts == {'web': 'h2'}


def test_the_reason_names_the_trait_and_the_class():
    closed = replace(on('h2', FAST), enabled=False)
    found = ' '.join(reasons(cloud(on('h1', SLOW), closed), group(
        member('web', required=[SSD], DISK_GB=10))).values())
    assert f'{SSD} (of the host or of its DISK_GB)' in found


@pytest.mark.parametrize('traits, number', [
    ({}, 4), ({'required': [SSD]}, 3), ({'forbidden': [SSD]}, 1)])
def test_only_cards_with_the_traits_count(traits, number):
    """The card of the second host needs no trait: its host has it."""
    snapshot = cloud(
        on('h1', provider('typed', SSD, VGPU=2), provider('plain', VGPU=1)),
        on('h2', provider('other', VGPU=1), traits=[SSD]))
    assert isinstance(solve(group(member(
        'web', number, VGPU=1, **traits)), snapshot), Plan)
    assert isinstance(solve(group(member(
        'web', number + 1, VGPU=1, **traits)), snapshot), Unplaceable)


def test_the_check_counts_cards_with_the_traits():
    snapshot = cloud(on('h1', provider('typed', SSD, VGPU=1),
                        provider('plain', VGPU=1)))
    wanted = group(member('web', 2, required=[SSD], VGPU=1))
    (reason,) = check(wanted, snapshot, {'web-0': 'h1', 'web-1': 'h1'})
    assert 'the providers of host h1 cannot give' in reason.message
    mixed = group(member('a', required=[SSD], VGPU=1), member('b', VGPU=1))
    assert not check(mixed, snapshot, {'a': 'h1', 'b': 'h1'})
    plan(snapshot, mixed).uses('h1')


def test_racks_with_the_storage_are_eligible_domains():
    snapshot = cloud(*(on(f'h{number}', share, rack=f'r{number}')
                       for number, share in enumerate((FAST, FAST, SLOW))))
    found = plan(snapshot, group(
        member('web', 4, required=[SSD], DISK_GB=10),
        policies=[Spread(level='rack')]))
    assert Counter(found.hosts.values()) == {'h0': 2, 'h1': 2}


some_traits = st.lists(st.sampled_from(TRAITS), unique=True)


@st.composite
def clouds(draw):
    shares = [provider(f's{n}', *draw(some_traits), sharing=True,
                       DISK_GB=draw(st.integers(0, 4)))
              for n in range(draw(st.integers(0, 2)))]
    return cloud(*(on(
        f'h{n}', *(provider(f'{kind}{n}.{i}', *draw(some_traits),
                            **{kind: draw(st.integers(1, 2))})
                   for i, kind in enumerate(draw(st.lists(
                       st.sampled_from(['VGPU', 'CUSTOM_NIC']),
                       max_size=3)))),
        *draw(st.sampled_from([(), *((each,) for each in shares)])),
        traits=draw(some_traits), vcpus=draw(st.integers(1, 3)))
        for n in range(draw(st.integers(1, 3)))))


members = st.lists(st.builds(
    lambda required, forbidden, amounts: member(
        '', required=required, forbidden=forbidden, **amounts),
    some_traits, st.lists(st.sampled_from(TRAITS), max_size=1),
    st.fixed_dictionaries({}, optional={
        'VGPU': st.just(1), 'CUSTOM_NIC': st.just(1),
        'DISK_GB': st.integers(1, 3)})), min_size=1, max_size=3)


def choices(wanted, where):
    """All sets of providers that may serve a member on a host, each as the
    amounts by provider and resource class."""
    everything = [(where.name, where.inventories, where.traits), *(
        (each.uuid, each.inventories, each.traits)
        for each in where.providers)]
    classes = sorted(wanted.resources)
    for chosen in itertools.product(everything, repeat=len(classes)):
        if not all(name in inventories for name, (_, inventories, _)
                   in zip(classes, chosen)):
            continue
        traits = [traits for _, _, traits in chosen]
        if wanted.required_traits <= frozenset().union(*traits) and not any(
                wanted.forbidden_traits & each for each in traits):
            yield {(uuid, name): wanted.resources[name]
                   for name, (uuid, _, _) in zip(classes, chosen)}


def is_possible(wanted, snapshot, where):
    """Whether members fit on these hosts together."""
    capacity = {}
    for each in snapshot.hosts:
        for uuid, inventories in ((each.name, each.inventories), *(
                (some.uuid, some.inventories) for some in each.providers)):
            for name, inventory in inventories.items():
                capacity[uuid, name] = inventory.capacity

    def fits(number, used):
        if number == len(wanted):
            return True
        for amounts in choices(wanted[number], where[number]):
            after = used + Counter(amounts)
            if all(after[key] <= capacity[key] for key in amounts) and fits(
                    number + 1, after):
                return True
        return False

    return fits(0, Counter())


@given(clouds(), members)
@examples(300)
def test_plans_agree_with_exhaustive_search(snapshot, wanted):
    definition = group(*(replace(each, name=f'm{number}')
                         for number, each in enumerate(wanted)))
    needs = [each.requirements for each in definition.all_members()]
    possible = {tuple(each.name for each in where)
                for where in itertools.product(
                    snapshot.hosts, repeat=len(needs))
                if is_possible(needs, snapshot, where)}
    answer = solve(definition, snapshot)
    if isinstance(answer, Plan):
        hosts = answer.hosts()
        assert tuple(hosts[each.path] for each
                     in definition.all_members()) in possible
    elif isinstance(answer, Unplaceable):
        assert not possible
    for where in itertools.product(snapshot.hosts, repeat=len(needs)):
        names = tuple(each.name for each in where)
        refused = bool(check(definition, snapshot, dict(zip(
            (each.path for each in definition.all_members()), names))))
        assert refused == (names not in possible)
