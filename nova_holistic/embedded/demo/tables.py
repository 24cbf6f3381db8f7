# SPDX-License-Identifier: Apache-2.0
"""The tables of the demo, with at most 80 columns."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from rich import box
from rich.table import Table

from nova_holistic.embedded.demo.outcome import Attempt
from nova_holistic.embedded.demo import scenario
from nova_holistic.embedded.demo.tiers import Tier
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.plan import Placement, Plan


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def cloud(snapshot: Snapshot) -> Table:
    """A row for each rack: its hosts with their free memory."""
    table = _table('zone', 'rack', 'GiB free', '', '', '')
    ordered = sorted(snapshot.hosts, key=lambda h: (h.location, h.name))
    for location, hosts in groupby(ordered, lambda h: h.location):
        table.add_row(*location, *map(_host, hosts))
    return table


def _host(host: Host) -> str:
    free = host.inventories['MEMORY_MB'].free / scenario.GIB
    return f'{host.name} [bold]{free:5.1f}[/]'


def group(tiers: Iterable[Tier], flavors: Mapping[str, Flavor]) -> Table:
    """A row for each tier: its servers, their flavor and their policies."""
    table = _table('tier', 'servers', 'zone', 'each', 'policies')
    for tier in tiers:
        needs = flavors[tier.flavor].resources
        rules = [f'{tier.policy} host', *(
            f'[cyan]{p.type} {" ".join(p.levels)}[/]'
            for p in tier.other_policies)]
        table.add_row(
            tier.path, str(len(tier.members)), tier.zone,
            f'{needs["VCPU"]} VCPU, {needs["MEMORY_MB"] // scenario.GIB} GiB, '
            f'{needs["DISK_GB"]} GB', '\n'.join(rules))
    return table


def attempt(tried: Attempt, tiers: Iterable[Tier]) -> Table:
    """A row for each tier: the hosts of its servers, and the failed servers.
    """
    table = _table('tier', 'ACTIVE', 'on cmp-', 'in ERROR')
    outcomes = {outcome.member: outcome for outcome in tried.outcomes}
    for tier in tiers:
        of_tier = [outcomes[m.path] for m in tier.members]
        active = [o for o in of_tier if o.active]
        failed = [o.member.rpartition('/')[2]
                  for o in of_tier if not o.active]
        table.add_row(
            tier.path, f'{len(active)} of {len(of_tier)}',
            ' '.join(o.host.removeprefix('cmp-') for o in active),
            f'[red]{" ".join(failed)}[/]')
    return table


def plan(planned: Plan) -> Table:
    """A row for each host: the members that are planned on it."""
    table = _table('zone', 'rack', 'host', 'planned there')

    def place(placement: Placement) -> tuple[str, ...]:
        return *placement.location, placement.host
    for key, placements_on_host in groupby(sorted(planned.placements,
                                                  key=place), place):
        table.add_row(*key, '  '.join(p.member for p in placements_on_host))
    cost = planned.objective
    table.caption = (f'Objective {cost.name} {cost.value:.4f}, proved bound '
                     f'{cost.bound:.4f}')
    table.caption_justify = 'left'
    return table


def account(figures: Sequence[tuple[str, Mapping[str, int]]]) -> Table:
    """A row for each moment: the total usage of all hosts in Placement.

    :param figures: moments, each with its usage by resource class
    """
    table = _table('Placement counts on all hosts', 'VCPU', 'memory, GiB',
                   'disk, GB')
    for column in table.columns[1:]:
        column.justify = 'right'
    for moment, used in figures:
        table.add_row(moment, f'{used["VCPU"]}',
                      f'{used["MEMORY_MB"] / scenario.GIB:.0f}',
                      f'{used["DISK_GB"]}')
    return table


def summary(members: int, attempts: Sequence[Attempt]) -> Table:
    """A column for each attempt.

    :param members: number of members of the group
    """
    table = _table('', *(a.name for a in attempts))
    lines = {
        'members of the group': lambda a: members,
        'planned and held': lambda a: a.held or '-',
        'requested servers': lambda a: len(a.outcomes),
        'ACTIVE': lambda a: len(a.active),
        'ERROR': lambda a: len(a.failed),
        'stuck at': lambda a: a.failed[0].member if a.failed else '-',
        'hosts used': lambda a: len(set(a.hosts().values())),
        'policies violated': lambda a: len(a.violations),
        'seconds': lambda a: f'{a.seconds:.1f}',
    }
    for column in table.columns[1:]:
        column.justify = 'right'
    for name, value in lines.items():
        table.add_row(name, *(str(value(a)) for a in attempts))
    return table
