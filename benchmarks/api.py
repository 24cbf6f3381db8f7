# SPDX-License-Identifier: Apache-2.0
"""Latency of the API with many groups in the table, most of them of other
projects, and the SQL statements of a request.

Requests are calls of the WSGI application in this process: without a network,
keystone or an engine. Every table is new: on SQLite a separate file, on
other servers a database, which grows from one size to the next. --mariadb and
--postgresql start such a server for the time of the run. The database of
--database must be empty.

The exit code is 1 if a request sends more statements to a table with more
groups.
"""

import argparse
import collections
import contextlib
import math
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from nova_holistic.table import migration  # noqa: E402
from nova_holistic.table.store import PlacementTable  # noqa: E402
from tests.services.mariadb import MariaDB  # noqa: E402
from tests.services.postgresql import PostgreSQL  # noqa: E402
from tests.statements import recorded  # noqa: E402
from tests.unit.api.many_groups import create_groups, requests  # noqa: E402
from tests.unit.api.service import Service  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--groups', type=int, nargs='+',
                        default=[10, 1000, 10000])
    parser.add_argument('--own', type=int, default=1000,
                        help='maximum number of groups in the project of '
                             'the client')
    parser.add_argument('--members', type=int, default=3,
                        help='members of each group')
    parser.add_argument('--repeat', type=int, default=200)
    parser.add_argument('--processor', dest='clock', action='store_const',
                        const=time.process_time, default=time.perf_counter,
                        help='measure the processor time of this process')
    where = parser.add_mutually_exclusive_group()
    where.add_argument('--database', help='SQLAlchemy URL of an empty one')
    for kind in (MariaDB, PostgreSQL):
        where.add_argument(
            f'--{kind.__name__.lower()}', dest='server', action='store_const',
            const=kind, help=f'start {kind.__name__} on a socket')
    return parser.parse_args()


@contextlib.contextmanager
def table_at(url):
    with tempfile.TemporaryDirectory() as directory:
        url = url or f'sqlite:///{directory}/table.sqlite'
        migration.upgrade(url)
        table = PlacementTable(url)
        yield table
        table.database.engine.dispose()


def timed(ask, repeat, clock):
    """Milliseconds of each request after the first one, which creates cached
    objects."""
    ask()
    milliseconds = []
    for _ in range(repeat):
        start = clock()
        ask()
        milliseconds.append(1000 * (clock() - start))
    return sorted(milliseconds)


def measure(arguments):
    """Statements of each request by the number of groups."""
    print('groups of them own  request                 median ms  p95 ms  '
          'statements')
    counts = collections.defaultdict(dict)
    before, url = 0, arguments.database
    with contextlib.ExitStack() as stack:
        if arguments.server:
            url = stack.enter_context(arguments.server()).create('benchmark')
        for number in sorted(arguments.groups):
            if not url or not before:
                table = stack.enter_context(table_at(url))
                before = 0
            own = min(number, arguments.own)
            create_groups(table, number - before,
                          own=own - min(before, arguments.own),
                          nodes=arguments.members - 1)
            before = number
            service = Service(table, max_groups_per_project=-1,
                              max_members_per_project=-1)
            for name, ask in requests(service).items():
                with recorded(table.database.engine) as sent:
                    ask()
                milliseconds = timed(ask, arguments.repeat, arguments.clock)
                p95 = milliseconds[math.ceil(0.95 * len(milliseconds)) - 1]
                counts[name][number] = len(sent.statements)
                print(f'{number:6} {own:11}  {name:22} '
                      f'{statistics.median(milliseconds):10.1f} {p95:7.1f} '
                      f'{len(sent.statements):11}', flush=True)
    return counts


def main():
    counts = measure(parse())
    grown = {name: numbers for name, numbers in counts.items()
             if len(set(numbers.values())) > 1}
    if grown:
        sys.exit(f'statements by the number of groups: {grown}')


if __name__ == '__main__':
    main()
