# SPDX-License-Identifier: Apache-2.0
"""Amounts are exact, even if they differ by many orders of magnitude: a group
that fits to the last unit is placed, and one more unit is refused."""

from fractions import Fraction

from hypothesis import given, strategies as st
from placement.objects.inventory import Inventory as PlacementInventory
import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.builders import cloud, group, host, servers

AMOUNTS = (1, 2, 3, 7, 999, 1000, 1001, 10**6, 10**6 + 1, 5 * 10**8,
           10**9 - 2, 10**9 - 1, 10**9, 10**9 + 1)
RATIOS = (1.0, 0.9, 16.0, 1.1, 0.57, 0.7, 1.5)
CLASSES = ('CUSTOM_X', 'VCPU')
TOTALS = st.integers(1, 2**31 - 1)


@given(TOTALS, st.integers(0, 2**31 - 1), st.one_of(
    st.sampled_from(RATIOS), st.floats(0.01, 1e6)))
@examples(400)
def test_capacity_follows_placements_formula(total, reserved, ratio):
    reserved = min(total, reserved)
    evaluate = PlacementInventory(
        resource_class='VCPU', total=total, reserved=reserved,
        allocation_ratio=ratio)
    ours = Inventory(total, reserved=reserved, allocation_ratio=ratio)
    assert ours.capacity == evaluate.capacity
    # Placement refuses an amount beyond the product, and Python compares
    # floats and integers exactly.
    product = Fraction((total - reserved) * ratio)
    assert ours.capacity <= product < ours.capacity + 1


@pytest.mark.parametrize('total, ratio, takes', [
    (7, 0.9, 6), (10, 0.9, 9), (100, 0.57, 56), (10, 0.7, 7),
    (100, 1.1, 110), (3, 16.0, 48), (10**9, 0.9, 9 * 10**8)])
def test_capacity_is_rounded_down_as_in_placement(total, ratio, takes):
    # 100 x 0.57 is slightly less than 57 as a float, so Placement computes 56.
    unit = takes // 3
    parts = (unit, unit, takes - 2 * unit)
    snapshot = cloud(host('h', 'r', inventories={
        'VCPU': Inventory(total, allocation_ratio=ratio)}))
    fits = group(*(servers(f'm{n}', vcpus=part)
                   for n, part in enumerate(parts)))
    over = group(fits.members[0], fits.members[1],
                 servers('m2', vcpus=parts[2] + 1))
    assert isinstance(solve(fits, snapshot), Plan)
    assert isinstance(solve(over, snapshot), Unplaceable)


@st.composite
def full_clouds(draw, slack):
    """Draw (group, cloud). The free capacity of each host equals the usage of
    a random placement plus the slack."""
    names = draw(st.sampled_from((CLASSES, CLASSES[:1])))
    asked = draw(st.lists(st.tuples(
        st.fixed_dictionaries({n: st.sampled_from(AMOUNTS) for n in names}),
        st.integers(1, 4)), min_size=1, max_size=5))
    number = draw(st.integers(1, 8))
    free = [dict.fromkeys(names, 0) for _ in range(number)]
    for amounts, count in asked:
        for _ in range(count):
            here = free[draw(st.integers(0, number - 1))]
            for name, amount in amounts.items():
                here[name] += amount
    hosts = []
    for n, here in enumerate(free):
        hosts.append(host(f'h{n}', f'r{n % 2}', inventories={
            name: draw(_holding(max(0, amount + draw(slack))))
            for name, amount in here.items()}))
    return group(*(MemberDescription(
        f'm{n}', Requirements(FrozenMapping(amounts)), count)
        for n, (amounts, count) in enumerate(asked))), cloud(*hosts)


@st.composite
def _holding(draw, free):
    """Draw an inventory with exactly this free capacity."""
    ratio = draw(st.sampled_from(RATIOS))
    used = draw(st.sampled_from((0, 5, 123_456_789, 10**9)))
    total = int((free + used) / ratio) + 2
    capacity = Inventory(total, allocation_ratio=ratio).capacity
    found = Inventory(total, allocation_ratio=ratio, used=capacity - free)
    assert found.used + free <= Fraction(total * ratio) < (
        found.used + free + 1)
    return found


def possible(wanted, snapshot):
    """Return whether a plan exists, by exhaustive search in integers."""
    members = sorted(
        (m.requirements.resources for m in wanted.all_members()),
        key=lambda asked: -max(asked.values()))
    seen = set()

    def rest(number, free):
        # Hosts with the same remaining capacity are equivalent.
        known = number, tuple(sorted(free))
        if number == len(members) or known in seen:
            return number == len(members)
        seen.add(known)
        asked = [members[number][name] for name in sorted(members[number])]
        return any(
            all(have >= want for have, want in zip(here, asked))
            and rest(number + 1, (*free[:h], tuple(
                have - want for have, want in zip(here, asked)),
                *free[h + 1:]))
            for h, here in enumerate(free))

    return rest(0, tuple(
        tuple(h.inventories[name].free for name in sorted(h.inventories))
        for h in snapshot.hosts))


def overfull(snapshot, wanted, plan):
    """Generate (host name, resource class) where the plan exceeds Placement's
    capacity."""
    where = plan.hosts()
    for each in snapshot.hosts:
        for name, has in each.inventories.items():
            taken = sum(m.requirements.resources[name]
                        for m in wanted.all_members()
                        if where[m.path] == each.name)
            if taken and has.used + taken > Fraction(
                    (has.total - has.reserved) * has.allocation_ratio):
                yield each.name, name


@pytest.fixture(params=['whole', 'decomposed'])
def settings(request):
    """Return the settings of each strategy for groups of more than one member.
    """
    return Settings(request.param)


@pytest.mark.parametrize('objective', ['spread', 'stack', 'fewest-hosts'])
def test_a_group_that_fits_exactly_is_placed(settings, objective):
    @given(full_clouds(st.just(0)))
    @examples(60)
    def placed(case):
        wanted, snapshot = case
        answer = solve(wanted, snapshot, objective=objective,
                       settings=settings)
        assert isinstance(answer, Plan), answer
        assert not [*overfull(snapshot, wanted, answer)]

    placed()


def test_one_unit_decides_whether_a_group_fits(settings):
    @given(full_clouds(st.sampled_from((-1, 0, 0, 1))),
           st.sampled_from(('spread', 'stack', 'fewest-hosts')))
    @examples(120)
    def decided(case, objective):
        wanted, snapshot = case
        answer = solve(wanted, snapshot, objective=objective,
                       settings=settings)
        assert isinstance(answer, Plan | Unplaceable), answer
        assert isinstance(answer, Plan) == possible(wanted, snapshot)
        if isinstance(answer, Plan):
            assert not [*overfull(snapshot, wanted, answer)]

    decided()


def hardly_apart():
    """Return a group that fits to the last unit, with amounts that floats
    hardly distinguish, and its cloud."""
    asked = (((500_000_000, 1_000_000_001), 3),
             ((500_000_000, 999_999_998), 3),
             ((1_000_000, 1_000_000_000), 3), ((3, 1), 2))
    free = ((1_000_000_000, 1_999_999_999), (502_000_000, 2_999_999_998),
            (500_000_003, 1_000_000_002), (1_000_003, 1_000_000_001),
            (1_000_000_000, 1_999_999_999))
    return group(*(MemberDescription(f'm{n}', Requirements(FrozenMapping(
        zip(CLASSES, amounts))), count)
        for n, (amounts, count) in enumerate(asked))), cloud(*(
            host(f'h{n}', 'r', inventories={
                name: Inventory(amount)
                for name, amount in zip(CLASSES, amounts)})
            for n, amounts in enumerate(free)))


@pytest.mark.parametrize('objective', ['spread', 'stack', 'fewest-hosts'])
def test_nearly_equal_amounts_are_distinguished(objective):
    wanted, snapshot = hardly_apart()
    answer = solve(wanted, snapshot, objective=objective)
    assert isinstance(answer, Plan), answer
    assert not [*overfull(snapshot, wanted, answer)]


def test_cbc_claims_no_false_infeasibility():
    @given(full_clouds(st.just(0)))
    @examples(40)
    def honest(case):
        wanted, snapshot = case
        answer = solve(wanted, snapshot, settings=Settings(solver='cbc'))
        # CBC may find no plan, but must not report this as a proof.
        assert not isinstance(answer, Unplaceable)
        if isinstance(answer, Plan):
            assert not [*overfull(snapshot, wanted, answer)]

    honest()


@pytest.mark.parametrize('free', [10**9 - 1, 10**9, 10**9 + 1])
def test_the_free_amount_decides_at_the_exact_demand(settings, free):
    snapshot = cloud(host('h', 'r', inventories={
        'VCPU': Inventory(2 * 10**9, used=2 * 10**9 - free)}))
    wanted = group(servers('big', vcpus=10**9))
    beside = group(servers('big', vcpus=10**9), servers('tiny'))
    for each, need in ((wanted, 10**9), (beside, 10**9 + 1)):
        answer = solve(each, snapshot, settings=settings)
        assert isinstance(answer, Plan if free >= need else Unplaceable)
