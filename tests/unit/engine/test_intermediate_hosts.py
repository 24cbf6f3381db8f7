# SPDX-License-Identifier: Apache-2.0
"""Random moves that have no direct order, compared with all sequences of
moves in which each server uses at most one intermediate host."""

from collections import deque

from hypothesis import assume, given

from nova_holistic.repair.intermediate_hosts import indirect_sequence
from nova_holistic.repair.move_order import longest_sequence
from tests.effort import examples
from tests.unit.engine.test_move_order import (
    cases, HOSTS, Oracle, product_case)


def fewest_stops(oracle, names):
    """The smallest number of intermediate hosts; None if no order exists.

    A state is the host of each server, and which servers are done or have
    used an intermediate host. A breadth-first search by the number of
    intermediate hosts finds the smallest one.
    """
    free, hosts = oracle.start()
    states = deque([(0, free, hosts, frozenset(), frozenset())])
    seen = set()
    while states:
        stops, free, hosts, done, stopped = states.popleft()
        if done == names:
            return stops
        key = (frozenset(hosts.items()), done, stopped)
        if key in seen:
            continue
        seen.add(key)
        for name in names - done:
            _, before, destination, after = oracle.servers[name]
            found = dict(free), dict(hosts)
            if oracle.step(*found, name, destination, after):
                states.appendleft((stops, *found, done | {name}, stopped))
            for stop in HOSTS if name not in stopped else ():
                found = dict(free), dict(hosts)
                if stop not in (hosts[name], destination) and oracle.step(
                        *found, name, stop, before):
                    states.append((stops + 1, *found, done,
                                   stopped | {name}))
    return None


def order(case, suitable=lambda move, host: True):
    """The moves as member and destination; None if there is no order."""
    context, moves = product_case(*case)
    assume(longest_sequence(context, moves).obstacles)
    sequence = indirect_sequence(context, moves, suitable)
    return sequence and [(move.member, move.source, move.destination)
                         for move in sequence.moves]


@examples(300)
@given(cases())
def test_an_order_exists_if_and_only_if_one_is_found(case):
    found, oracle = order(case), Oracle(*case)
    names = frozenset(name for name, server in oracle.servers.items()
                      if server[:2] != server[2:])
    fewest = fewest_stops(oracle, names)
    assert (found is None) == (fewest is None)
    if found is None:
        return
    assert len(found) == len(names) + fewest
    state = oracle.start()
    for name, source, destination in found:
        _, before, final, after = oracle.servers[name]
        assert state[1][name] == source
        assert oracle.step(*state, name, destination,
                           after if destination == final else before)
    assert all(state[1][name] == oracle.servers[name][2] for name in names)


SWAP = ({'a': ('h-1', 1, 'h-3', 1), 'b': ('h-3', 1, 'h-1', 1)},
        dict.fromkeys(HOSTS, 4), [('anti-affinity', 'host', 1)])


def test_two_servers_swap_their_hosts_by_an_intermediate_host():
    assert order(SWAP, lambda move, host: host.name == 'h-4') == [
        ('a', 'h-1', 'h-4'), ('b', 'h-3', 'h-1'), ('a', 'h-4', 'h-3')]


def test_an_unsuitable_host_is_not_used():
    assert order(SWAP, lambda move, host: False) is None
