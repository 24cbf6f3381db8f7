# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic template``: a Heat template with groups gives a group
document, and a plain template whose servers point at their places."""

import argparse
import os
import pathlib

from cliff import command
import yaml

from nova_holistic.cli import exits, files, parameters
from nova_holistic.documents.definition import split_definition
from nova_holistic import exceptions
from nova_holistic.picture.lettering import printable
from nova_holistic.policies import load_policy_types


class Template(command.Command):
    """Split a Heat template with groups in two.

    Writes NAME-group.yaml, to create the group from, and NAME-template.yaml,
    to create the stack from once the group is there, with its UUID as
    parameter holistic_group.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('template', metavar='FILE',
                            help='Heat template with groups')
        parser.add_argument(
            '-o', '--output-dir', default='.', metavar='DIRECTORY',
            help='where to write both files; made where it is missing '
                 '(default: the current one)')
        parameters.add_option(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        document = files.Files(self.app.stdin).document(args.template)
        with files.blaming(args.template):
            group, template = split_definition(
                document, load_policy_types(), args.parameters)
        folder = pathlib.Path(args.output_dir)
        with files.blaming(args.output_dir):
            folder.mkdir(parents=True, exist_ok=True)
        stem = _stem(args.template)
        for kind, content in (('group', {'group': group}),
                              ('template', template)):
            target = folder / f'{stem}-{kind}.yaml'
            if _same(target, args.template):
                raise exceptions.HolisticError(
                    f'{target}: is the template that was read')
            files.write(str(target), _yaml(content))
            self.app.stdout.write(printable(str(target)) + '\n')
        return exits.GOOD


def _stem(name: str) -> str:
    return 'stack' if name == '-' else pathlib.PurePath(name).stem


def _same(target: pathlib.Path, name: str) -> bool:
    return (name != '-' and target.exists()
            and os.path.samefile(target, name))


class _Dumper(yaml.SafeDumper):
    """Text of several lines as such a block, and no anchors: people read it.
    """

    def ignore_aliases(self, data):
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        'tag:yaml.org,2002:str', text, style='|' if '\n' in text else None)


_Dumper.add_representer(str, _text)


def _yaml(content: dict) -> bytes:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False,
                     allow_unicode=True, encoding='utf-8')
