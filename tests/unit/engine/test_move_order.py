# SPDX-License-Identifier: Apache-2.0
"""Random moves in an order that keeps the policies, compared with every
possible order. The oracle shares no code with the project: it counts servers
in dictionaries."""

from collections import Counter
import itertools

from hypothesis import given, strategies as st

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.policies import load_policy_types
from nova_holistic.repair.move_order import (
    longest_sequence, Move, MoveContext)
from nova_holistic.table.records import MemberRecord, MemberState, Place
from tests.effort import examples
from tests.unit.builders import cloud, host

HOSTS = {'h-1': 'r-1', 'h-2': 'r-1', 'h-3': 'r-2', 'h-4': 'r-3'}
"""The rack of each host."""


@st.composite
def cases(draw):
    """Sizes and hosts of servers before and after, and policies."""
    names = 'abcd'[:draw(st.integers(1, 4))]
    hosts = st.sampled_from(sorted(HOSTS))
    size = st.integers(1, 3)
    servers = {name: (draw(hosts), draw(size), draw(hosts), draw(size))
               for name in names}
    free = {name: draw(st.integers(0, 4)) for name in HOSTS}
    rules = draw(st.lists(st.one_of(
        st.tuples(st.just('anti-affinity'), st.sampled_from(['host', 'rack']),
                  st.integers(1, 2)),
        st.tuples(st.just('affinity'), st.sampled_from(['host', 'rack']),
                  st.just(0)),
        st.tuples(st.just('location'), st.sampled_from(['r-1', 'r-2']),
                  st.just(0))), max_size=2, unique_by=lambda rule: rule[0]))
    return servers, free, rules


def policies(rules):
    for kind, argument, most in rules:
        if kind == 'location':
            yield {'type': kind, 'path': argument}
        elif kind == 'affinity':
            yield {'type': kind, 'level': argument}
        else:
            yield {'type': kind, 'level': argument, 'max_per_domain': most}


def product_sequence(*case):
    context, moves = product_case(*case)
    return longest_sequence(context, moves), moves


def product_case(servers, free, rules):
    document = {
        'name': 'shop', 'policies': list(policies(rules)),
        'members': [{'name': name, 'resources': {'VCPU': size}}
                    for name, (_, size, _, _) in servers.items()]}
    group = parse_group(document, load_policy_types())
    used = Counter()
    for source, size, _, _ in servers.values():
        used[source] += size
    snapshot = cloud(*(host(
        name, rack, servers=sum(s[0] == name for s in servers.values()),
        inventories={'VCPU': Inventory(
            total=max(1, used[name] + free[name]), used=used[name])})
        for name, rack in HOSTS.items()))
    rows = [MemberRecord(
        number, 'g', member, Place(servers[member.path][0], '', '', (
            HOSTS[servers[member.path][0]],)), 'hold', False,
        MemberState.BUILT, member.path)
        for number, member in enumerate(group.all_members())]
    moves = [Move(name, name, source, destination,
                  FrozenMapping({'VCPU': after}))
             for name, (source, before, destination, after)
             in servers.items() if (source, before) != (destination, after)]
    return MoveContext(group, rows, snapshot), moves


class Oracle:
    """The capacity of hosts and the policies as plain numbers."""

    def __init__(self, servers, free, rules):
        self.servers, self.rules = servers, rules
        self.free = {name: free[name] for name in HOSTS}
        used = {server[0] for server in servers.values()}
        for name in HOSTS:
            # A host without servers has capacity for at least one.
            if name not in used:
                self.free[name] = max(1, free[name])

    def wrong(self, hosts):
        """The number of violations of each policy with servers on these
        hosts."""
        for kind, argument, most in self.rules:
            if kind == 'location':
                yield sum(HOSTS[name] != argument for name in hosts.values())
                continue
            domains = Counter(
                name if argument == 'host' else HOSTS[name]
                for name in hosts.values())
            if kind == 'affinity':
                # Each domain after the first is a violation.
                yield max(0, len(domains) - 1)
            else:
                yield sum(max(0, n - most) for n in domains.values())

    def start(self):
        """The free capacity and the hosts before the first step."""
        return dict(self.free), {
            name: server[0] for name, server in self.servers.items()}

    def possible(self, order):
        """Return whether each step of this order is possible."""
        state = self.start()
        return all(self.step(*state, name, *self.servers[name][2:])
                   for name in order)

    def step(self, free, hosts, name, destination, after):
        """Move a server; False if that is not possible.

        :param after: size of the server after the move
        """
        if after > free[destination]:
            return False
        now = list(self.wrong({**hosts, name: destination}))
        was = list(self.wrong(hosts))
        without = list(self.wrong(
            {each: h for each, h in hosts.items() if each != name}))
        if any(n and n > min(w, o)
               for n, w, o in zip(now, was, without, strict=True)):
            return False
        free[destination] -= after
        free[hosts[name]] += self.servers[name][1]
        hosts[name] = destination
        return True

    def most(self, names):
        """The length of the longest possible order."""
        return next(length for length in range(len(names), -1, -1) if any(
            self.possible(order)
            for order in itertools.permutations(names, length)))


@examples(400)
@given(cases())
def test_the_order_is_possible_and_none_is_longer(case):
    sequence, moves = product_sequence(*case)
    oracle = Oracle(*case)
    order = [move.member for move in sequence.moves]
    assert oracle.possible(order)
    assert len(order) == oracle.most([move.member for move in moves])
    assert {move.member for move in sequence.obstacles} == {
        move.member for move in moves} - set(order)


def test_a_server_that_grows_needs_room_beside_its_old_size():
    """Placement allocates both sizes on a host until the resize is
    confirmed."""
    servers = {'a': ('h-1', 2, 'h-1', 3)}
    sequence, _ = product_sequence(servers, dict.fromkeys(HOSTS, 2), [])
    assert [*sequence.obstacles.values()] == [
        'the destination has too little free VCPU']
    sequence, _ = product_sequence(servers, dict.fromkeys(HOSTS, 3), [])
    assert [move.member for move in sequence.moves] == ['a']


def test_the_obstacle_names_the_policy():
    """Two servers have to swap their hosts."""
    sequence, _ = product_sequence(
        {'a': ('h-1', 1, 'h-3', 1), 'b': ('h-3', 1, 'h-1', 1)},
        dict.fromkeys(HOSTS, 4), [('anti-affinity', 'host', 1)])
    assert sequence.moves == ()
    assert all('anti-affinity' in why for why in sequence.obstacles.values())
