# SPDX-License-Identifier: Apache-2.0
"""Tables of ``benchmarks/soak.py``."""


def print_soak(results):
    lives = len(results['ends'])
    print(f'{results["seconds"]:.0f} s: {lives} lives ended, '
          f'{lives / results["seconds"]:.2f} in a second of '
          f'{results["rate"]:.2f} requested; '
          f'{results["missed"]} missed and '
          f'{sum(results["failures"].values())} failed; '
          f'load average {results["load_average"][2]:.1f}')
    for text, number in list(results['failures'].items())[:5]:
        print(f'  {number} times: {text}')
    _print_latencies(results['latencies'])
    _print_processes(results)
    _print_cpu(results, max(1, lives))
    for name, number in results['after'].items():
        print(f'{name}: {results["before"][name]} before the first group, '
              f'{number} after the last one')
    print('failed or grown: ' + (' '.join(results['faults']) or 'nothing'),
          flush=True)


def _print_cpu(results, lives):
    cpu = {name: used / lives for name, used in results['cpu'].items()}
    print('CPU s for each life: ' + ', '.join(
        f'{name} {used:.3f}' for name, used in cpu.items() if used >= 0.001)
        + f'; all {sum(cpu.values()):.3f}')
    print('CPU s for each life in the first and in the last quarter: '
          + ', '.join(f'{name} {cost["first"]:.3f} and {cost["last"]:.3f}'
                      for name, cost in results['cost'].items()))


def _print_latencies(latencies):
    print(f'\n{"":<18}  {"first tenth, s":^23}  {"last tenth, s":^23}\n'
          f'{"operation":<10} {"number":>7}'
          + f'  {"p50":>7} {"p95":>7} {"p99":>7}' * 2)
    for operation, each in latencies.items():
        print(f'{operation:<10} {each["number"]:>7}  '
              + '  '.join(' '.join(f'{each[title][share]:>7.2f}' for share in (
                  'p50', 'p95', 'p99')) for title in ('beginning', 'end')))


def _print_processes(results):
    """``idle``: after the first group. ``end``: after the last one."""
    print(f'\n{"":<24} {"":<8} {"":>6}  {"first quarter":^20}  '
          f'{"last quarter":^20}\n{"process":<24} {"kind":<8} {"idle":>6}'
          + f'  {"median":>6} {"min":>6} {"max":>6}' * 2
          + f'  {"end":>6} {"an hour":>8}')
    for name, kinds in results['growth'].items():
        for kind, compared in kinds.items():
            print(f'{name:<24} {kind:<8} {results["idle"][name][kind]:>6.0f}'
                  + ''.join('  ' + ' '.join(
                      f'{compared[quarter][key]:>6.0f}'
                      for key in ('median', 'min', 'max'))
                      for quarter in ('first', 'last'))
                  + f'  {results["idle_at_end"][name][kind]:>6.0f} '
                  f'{compared["hourly"]:>+8.1f}')
    print()
