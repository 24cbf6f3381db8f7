# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic plan ...``"""

import argparse
from typing import Any

from osc_lib.command import command

from nova_holistic.cli import exits
from nova_holistic.client.osc.command import HolisticCommand
from nova_holistic.client.osc.definition_file import DefinitionFile
from nova_holistic.client.osc import formatted_columns, progress

_CODES = {'planned': exits.PLANNED, 'unknown': exits.UNKNOWN}


class CreatePlan(HolisticCommand, command.ShowOne, DefinitionFile):
    """Show the plan for a group in the current state of the cloud, without
    creating the group or holding capacity.

    With --wait, the exit code is that of "nova-holistic plan": 1 if the group
    is unplaceable or the plan failed, and 3 if the time limit was reached
    with neither a plan nor a proof that none exists.
    """

    _code = exits.PLANNED

    def run(self, parsed_args: argparse.Namespace) -> int:
        # The answer is written first: it contains the reasons.
        return super().run(parsed_args) or self._code

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--objective', metavar='<name>',
            help='Objective that the plan optimises')
        parser.add_argument(
            '--relaxations', action='store_true',
            help='Also show which changes make an unplaceable group fit')
        parser.add_argument(
            '--headroom', action='store_true',
            help='Also show how many copies of the group fit')
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        plans = self.client().plans
        plan = plans.create(self.definition(parsed_args),
                            objective=parsed_args.objective,
                            relaxations=parsed_args.relaxations,
                            headroom=parsed_args.headroom)
        if parsed_args.wait:
            with (progress.timeout_as_error(f'plan {plan["id"]}'),
                  progress.bar('plan') as report):
                plan = plans.wait(plan['id'], parsed_args.timeout, report)
            self._code = _CODES.get(plan['status'], exits.UNPLACEABLE)
        return formatted_columns.fields(plan, formatted_columns.PLAN)


class ShowPlan(HolisticCommand, command.ShowOne):
    """Show a requested plan"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('plan', metavar='<plan>', help='ID of the plan')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        return formatted_columns.fields(
            self.client().plans.get(parsed_args.plan), formatted_columns.PLAN)
