# SPDX-License-Identifier: Apache-2.0
"""Tables of ``benchmarks/end_to_end.py``."""

from benchmarks import steps

PROCESSES = ('engine-1', 'placement', 'nova', 'mariadb')
"""Processes with a separate column; the others are added up."""


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
    for step in (*steps.STEPS, 'all'):
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
    print(f'Placement and the database took {100 * placement_share(runs):.0f}'
          f' % of the processor time, and the engine waited for Placement '
          f'for {100 * waiting_share(runs):.0f} % of the time', flush=True)


def placement_share(runs):
    """Of the processor time of all processes, the part of Placement and of
    the database."""
    cpu = _mean_cpu([_cost(run, 'all') for run in runs])
    own = cpu.get('placement', 0.0) + cpu.get('mariadb', 0.0)
    return own / (sum(cpu.values()) or 1.0)


def waiting_share(runs):
    """Of the wall-clock time, the part in which the engine waited for an
    answer of Placement."""
    costs = [_cost(run, 'all') for run in runs]
    return (sum(cost['waited'].get('placement', 0.0) for cost in costs)
            / (sum(cost['wall'] for cost in costs) or 1.0))


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
    """The cost of a step; of all steps together if it is ``all``."""
    if step != 'all':
        return run['steps'].get(step, {})
    total = {'wall': 0.0, 'cpu': {}, 'requests': {}, 'waited': {}}
    for cost in run['steps'].values():
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
