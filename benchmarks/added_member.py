# SPDX-License-Identifier: Apache-2.0
"""The time to plan one more member of a group whose other members stay on
their hosts."""

import argparse
from dataclasses import replace
import statistics

from clouds import cloud
from groups import shop
from planner import run

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping


def occupied(snapshot, group, plan):
    """The snapshot with the servers of the plan."""
    placed = {}
    for member in bind(group, snapshot).all_members():
        placed.setdefault(plan[member.path], []).append(
            member.requirements.resources)
    return replace(snapshot, hosts=tuple(
        _with(host, placed[host.name]) if host.name in placed else host
        for host in snapshot.hosts))


def _with(host, servers):
    return replace(
        host, servers=host.servers + len(servers),
        inventories=FrozenMapping({
            name: replace(inventory, used=inventory.used + sum(
                each.get(name, 0) for each in servers))
            for name, inventory in host.inventories.items()}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=10_000)
    parser.add_argument('--members', type=int, default=1000)
    parser.add_argument('--utilisation', type=int, default=75)
    parser.add_argument('--repeat', type=int, default=7)
    arguments = parser.parse_args()
    print(f'{"objective":<13} {"first ms":>8} {"median ms":>9} {"max ms":>7}')
    for objective in ('fewest-hosts', 'stack', 'spread'):
        snapshot = cloud(arguments.hosts, arguments.utilisation / 100, 0)
        group = shop(arguments.members)
        plan = run(group, snapshot, objective, 10.0, {})['plan']
        occupied_snapshot = occupied(snapshot, group, plan)
        more = shop(arguments.members, extra=1)
        times = [1000 * run(more, occupied_snapshot, objective, 10.0, plan)[
            'seconds'] for _ in range(arguments.repeat)]
        print(f'{objective:<13} {times[0]:>8.0f} '
              f'{statistics.median(times[1:]):>9.0f} {max(times[1:]):>7.0f}',
              flush=True)


if __name__ == '__main__':
    main()
