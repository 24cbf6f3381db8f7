# SPDX-License-Identifier: Apache-2.0
"""One time limit applies to a whole search for headroom or relaxations. What
was proved before is the answer."""

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Unknown
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations import host_offers
from nova_holistic.solver.relaxations.most_copies import most_copies
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing, Stopping

HOSTS = 12
EACH = Settings(timer=standing)


def racks():
    return cloud(*(host(f'h{n}', f'r{n % 4}', vcpus=40 + n)
                   for n in range(HOSTS)))


def different(number):
    """Return a group whose members all differ. One quarter of the members must
    be in each rack."""
    return group(*(servers(f'm{n}', vcpus=1 + n % 5, location=(f'r{n % 4}',))
                   for n in range(number)))


class Calls:
    """A check of the time that fails after a number of calls."""

    def __init__(self, most):
        self.left = most

    def __call__(self):
        self.left -= 1
        if self.left < 0:
            raise OutOfTime


def test_an_upper_bound_needs_no_time_and_becomes_smaller_with_time():
    """The racks have 132 to 141 VCPUs, of which a copy needs 9 to 11."""
    wanted = different(16)
    bounds = [most_copies(wanted, racks(), Calls(most)) for most in range(40)]
    total = sum(40 + n for n in range(HOSTS))
    needed = sum(1 + n % 5 for n in range(16))
    assert bounds[0] == total // needed
    assert sorted(bounds, reverse=True) == bounds
    in_racks = [(sum(40 + n for n in range(HOSTS) if n % 4 == rack), sum(
        1 + n % 5 for n in range(16) if n % 4 == rack)) for rack in range(4)]
    assert bounds[-1] == min(free // amount for free, amount in in_racks)
    assert bounds[-1] < bounds[0]


def test_no_class_of_members_is_examined_after_the_time_limit(monkeypatch):
    seen = []
    room = Eligibility.room
    monkeypatch.setattr(Eligibility, 'room', lambda self, *args: (
        seen.append(args), room(self, *args))[1])
    most_copies(different(80), racks(), Calls(3))
    assert len(seen) == 3


def test_headroom_has_both_bounds_whenever_the_time_ends():
    """The answer without a time limit is between the bounds. The number of
    readings of the clock after the limit does not depend on the number of
    members, so no loop over them continues."""
    late = {}
    for number in (40, 80):
        wanted, snapshot = different(number), racks()
        plan = solve(wanted, snapshot, settings=EACH)
        whole = headroom(wanted, snapshot, plan, settings=EACH)
        assert whole.at_least == whole.at_most > 1
        late[number] = 0
        for readings in (*range(1, 60, 4), 100, 200, 400, 800):
            clock = Stopping(readings)
            found = headroom(wanted, snapshot, plan, settings=Settings(
                time_limit=1.0, timer=clock))
            assert 1 <= found.at_least <= whole.at_least <= found.at_most
            unknown = headroom(wanted, snapshot, Unknown('no time'), settings=(
                Settings(time_limit=1.0, timer=Stopping(readings))))
            assert unknown.at_least <= whole.at_least <= unknown.at_most
            late[number] = max(late[number], clock.late)
    assert late[80] <= late[40] + 5


def unplaceable(rules):
    """Return a group that no cloud of two racks can take, with this number of
    further rules."""
    return group(servers('node', 3, vcpus=1), groups=[
        group(servers('x', 1), name=f'g{n}',
              policies=[AntiAffinity(level='rack')]) for n in range(rules)],
        policies=[AntiAffinity(level='rack')])


def few():
    return cloud(*(host(f'h{n}', f'r{n % 2}', inventories={
        'VCPU': Inventory(64)}) for n in range(4)))


def test_relaxations_that_were_found_in_time_are_kept():
    wanted, snapshot = unplaceable(12), few()
    reasons = solve(wanted, snapshot, settings=EACH).reasons
    whole = relax(wanted, snapshot, reasons=reasons, settings=EACH)
    assert whole.preferences and whole.hosts and not whole.undecided
    numbers = []
    for readings in (1, 10, 40, 100, 300, 1_000, 3_000, 10_000, 30_000,
                     100_000):
        found = relax(wanted, snapshot, reasons=reasons, settings=Settings(
            time_limit=1.0, timer=Stopping(readings)))
        # Without time to try single rules, all of them together are known.
        assert all(each in whole.preferences or not each.smallest
                   for each in found.preferences)
        assert found.hosts is None or (
            found.hosts.hosts >= whole.hosts.hosts
            and found.hosts.smallest <= (found.hosts == whole.hosts))
        missing = (len({*whole.preferences} - {*found.preferences})
                   + (found.hosts is None))
        assert bool(missing) <= bool(found.undecided)
        numbers.append(missing)
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1] == 0


def test_no_host_is_offered_after_the_time_limit(monkeypatch):
    """Only the places that were examined before the limit are counted."""
    examined = []
    fits = host_offers.fits
    monkeypatch.setattr(host_offers, 'fits', lambda *args: (
        examined.append(args), fits(*args))[1])
    snapshot = cloud(*(host(f'h{n}', f'r{n}', vcpus=4 + n)
                       for n in range(30)))
    wanted = group(servers('node', 40, vcpus=4), policies=[AntiAffinity()])
    relax(wanted, snapshot, settings=Settings(
        time_limit=1.0, timer=Stopping(20)))
    assert len(examined) <= 20
    relax(wanted, snapshot, settings=EACH)
    assert len(examined) > 30
