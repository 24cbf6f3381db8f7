# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.cloud up|down|env``."""

import argparse
import pathlib
import sys

from tools.cloud import catalog
from tools.cloud.cloud import Cloud, make
from tools.cloud.layout import Layout
from tools.cloud.waiting import WaitTimeout

DIRECTORY = pathlib.Path('.cloud')


def up(args: argparse.Namespace) -> None:
    if (args.dir / 'cloud.json').exists():
        raise WaitTimeout(f'{args.dir} has a cloud already: end it first')
    cloud = make(args.dir, args.hosts, heat=args.heat)
    try:
        cloud.up()
    except BaseException:
        # The files stay, so that a developer can examine them.
        cloud.down()
        raise
    print(f'eval "$(python -m tools.cloud env --dir {args.dir})"')


def down(args: argparse.Namespace) -> None:
    cloud = Cloud(Layout.read(args.dir))
    cloud.down()
    if not args.keep:
        cloud.remove()


def env(args: argparse.Namespace) -> None:
    layout = Layout.read(args.dir)
    for name, value in catalog.variables(
            layout, catalog.USERS[args.user]).items():
        print(f'export {name}={value}')


def main() -> int:
    parser = argparse.ArgumentParser(
        prog='python -m tools.cloud', description='A cloud of processes.')
    commands = parser.add_subparsers(required=True)
    for command, help_text in ((up, 'start a cloud'),
                               (down, 'end it, and remove its directory'),
                               (env, 'print variables for openstack')):
        each = commands.add_parser(command.__name__, help=help_text)
        each.set_defaults(command=command)
        each.add_argument('--dir', type=pathlib.Path, default=DIRECTORY,
                          help='directory of the cloud (%(default)s)')
        if command is up:
            each.add_argument('--hosts', type=int, default=10)
            each.add_argument('--heat', action='store_true',
                              help='start Heat as well')
        elif command is down:
            each.add_argument('--keep', action='store_true',
                              help='keep logs, databases and configuration')
        else:
            each.add_argument('--user', default='admin',
                              choices=sorted(catalog.USERS))
    args = parser.parse_args()
    try:
        args.command(args)
    except (WaitTimeout, FileNotFoundError) as error:
        print(f'tools.cloud: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
