# SPDX-License-Identifier: Apache-2.0
"""Tables of ``benchmarks/end_to_end.py``."""

import statistics

from benchmarks import steps

PROCESSES = ('engine-1', 'placement', 'nova', 'mariadb')
"""Processes with a separate column; the others are added up."""
HELD = 'held'
"""All steps until the group is planned and held."""


def print_machine(machine):
    print(', '.join(f'{name}: {value}' for name, value in machine.items()),
          flush=True)


def print_row(row):
    """One table: the steps of the creates of one size and state."""
    runs = row['runs']
    held, total = (steps.spread([run[key] for run in runs])
                   for key in ('held', 'total'))
    print(f'\n{row["hosts"]} hosts, {row["driver"]}, {row["members"]} '
          f'members, {row["state"]}, {len(runs)} runs: '
          f'{_range(held)} s until planned and held, '
          f'{_range(total)} s until the client knows; '
          f'load average {row["load_average"][0]:.1f}')
    print(f'{"step":<11} {"wall s":>8} {"min":>7} {"max":>7}   CPU s: '
          f'{"engine":>7} {"placement":>9} {"nova":>7} {"mariadb":>7} '
          f'{"others":>7}   requests')
    for step in (*steps.STEPS, HELD, 'all'):
        costs = [_cost(run, step) for run in runs]
        if not any(costs):
            continue
        wall = steps.spread([cost.get('wall', 0.0) for cost in costs])
        cpu = _mean_cpu(costs)
        own = [cpu.pop(name, 0.0) for name in PROCESSES]
        print(f'{step:<11} {wall["median"]:>8.3f} {wall["min"]:>7.3f} '
              f'{wall["max"]:>7.3f}          '
              + ' '.join(f'{value:>{width}.2f}' for value, width in zip(
                  (*own, sum(cpu.values())), (7, 9, 7, 7, 7)))
              + f'   {_requests(costs)}', flush=True)
    print(f'Until held, Placement and the database took '
          f'{100 * placement_share(runs):.0f} % of the processor time, and '
          f'the engine waited for Placement for '
          f'{_percent(waiting_shares(runs))} % of the time', flush=True)
    if row.get('idle'):
        print(f'Without the work of idle services, Placement and the database '
              f'took {100 * placement_share(runs, row["idle"]):.0f} %; a '
              f'second of it: ' + ', '.join(
                  f'{name} {1000 * used:.0f} ms'
                  for name, used in row['idle'].items()), flush=True)


def placement_share(runs, idle=None):
    """Of the processor time of all processes until the group is held, the part
    of Placement and of the database.

    :param idle: processor seconds by name of the process for each second in
        which no group is created; they do not count. None: they count
    """
    cpu, wall = _mean_cpu([_cost(run, HELD) for run in runs]), statistics.mean(
        _cost(run, HELD)['wall'] for run in runs)
    own = {name: max(0.0, used - wall * (idle or {}).get(name, 0.0))
           for name, used in cpu.items()}
    return (own.get('placement', 0.0) + own.get('mariadb', 0.0)) / (
        sum(own.values()) or 1.0)


def waiting_shares(runs):
    """For each run, the part of the wall-clock time until the group is held in
    which the engine waited for an answer of Placement."""
    # During other steps, only periodic work sends requests to Placement.
    return [sum(_cost(run, step).get('waited', {}).get('placement', 0.0)
                for step in steps.WAITING) / _cost(run, HELD)['wall']
            for run in runs]


def _percent(shares):
    spread = steps.spread([100 * share for share in shares])
    return (f'{spread["median"]:.0f} ({spread["min"]:.0f} to '
            f'{spread["max"]:.0f})')


def print_other_servers(numbers):
    print(f'other servers: {numbers["created"]} created and '
          f'{numbers["deleted"]} deleted in {numbers["seconds"]:.0f} s, '
          f'{numbers["refused"]} refused', flush=True)


def print_stock(stock):
    print(f'\nstock Nova, {stock["hosts"]} hosts: one server at a time, '
          f'{stock["servers"]} servers: median '
          f'{_range(steps.spread(stock["seconds"]))} s each, '
          f'{sum(stock["seconds"]):.1f} s in all, CPU s of each: '
          + ', '.join(f'{name} {used / stock["servers"]:.3f}'
                      for name, used in stock['cpu'].items()))
    print(f'stock Nova, {stock["hosts"]} hosts: one request for '
          f'{stock["servers"]} servers: {stock["together"]:.1f} s',
          flush=True)


def _cost(run, step):
    """The cost of a step; of all steps together if it is ``all``, and of the
    steps until the group is held if it is ``held``."""
    if step not in ('all', HELD):
        return run['steps'].get(step, {})
    total = {'wall': 0.0, 'cpu': {}, 'requests': {}, 'waited': {}}
    for name, cost in run['steps'].items():
        if step == HELD and name in steps.AFTER_HELD:
            continue
        total['wall'] += cost['wall']
        for kind in ('cpu', 'requests', 'waited'):
            for name, value in cost[kind].items():
                total[kind][name] = total[kind].get(name, 0) + value
    return total


def _mean_cpu(costs):
    means = {}
    for cost in costs:
        for name, used in cost.get('cpu', {}).items():
            means[name] = means.get(name, 0.0) + used / len(costs)
    return means


def _requests(costs):
    """Numbers of requests by service, from the least to the most."""
    services = sorted({name for cost in costs
                       for name in cost.get('requests', {})})
    texts = []
    for name in services:
        numbers = [cost.get('requests', {}).get(name, 0) for cost in costs]
        least, most = min(numbers), max(numbers)
        texts.append(f'{name} {least}' + f'-{most}' * (least != most))
    return ', '.join(texts)


def _range(spread):
    return (f'{spread["median"]:.2f} ({spread["min"]:.2f} to '
            f'{spread["max"]:.2f})')
