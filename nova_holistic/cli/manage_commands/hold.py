# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage hold``: the holds in Placement."""

import argparse
from typing import TYPE_CHECKING

from nova_holistic.cli import exits
from nova_holistic.cli.manage_commands.command import Command, CommandResult

if TYPE_CHECKING:
    from nova_holistic.reconcile.orphan_holds import Orphan

LEFT = 1
"""Exit code: holds without a group exist."""


def audit(conf) -> CommandResult:
    """list holds in Placement that belong to no group; exits with 1 if any
    remain"""
    from nova_holistic.cli.components import (
        engine_components, managed_groups)
    orphans = engine_components.orphans(
        conf, managed_groups.managed_table(conf))
    lines, left = [], False
    for orphan in orphans.audit():
        dropped = conf.command.delete and orphans.drop(orphan)
        left = left or not dropped
        lines.append(_line(orphan) + (', dropped' if dropped else ''))
    return CommandResult('\n'.join(lines), LEFT if left else exits.GOOD)


def _line(orphan: 'Orphan') -> str:
    held = '; '.join(
        f'{provider}: ' + ', '.join(
            f'{name} {amount}' for name, amount in sorted(amounts.items()))
        for provider, amounts in orphan.resources.items())
    return f'{orphan.hold} of project {orphan.project_id} on {held}'


def _audit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--delete', action='store_true',
                        help='delete these holds')


COMMANDS = {('hold', 'audit'): Command(audit, _audit_arguments)}
