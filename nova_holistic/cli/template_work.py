# SPDX-License-Identifier: Apache-2.0
"""The work of ``nova-holistic template``, apart from its options."""

import argparse
import os
import pathlib
from typing import TextIO

import yaml

from nova_holistic.cli import exits, files
from nova_holistic.documents.definition import split_definition
from nova_holistic import exceptions
from nova_holistic.picture.text_fitting import printable
from nova_holistic.policies import load_policy_types


def split(args: argparse.Namespace, stdin: TextIO | None,
          stdout: TextIO) -> int:
    """Write both files; returns the exit code."""
    read = files.Files(stdin)
    document = read.document(args.template)
    with read.with_file_name(args.template):
        group, template = split_definition(
            document, load_policy_types(), args.parameters)
    folder = pathlib.Path(args.output_dir)
    with files.with_file_name(args.output_dir):
        folder.mkdir(parents=True, exist_ok=True)
    stem = _stem(args.template)
    for kind, content in (('group', {'group': group}),
                          ('template', template)):
        target = folder / f'{stem}-{kind}.yaml'
        if _same(target, args.template):
            raise exceptions.HolisticError(
                f'{target}: this is the template that was read')
        files.write(str(target), _yaml(content))
        stdout.write(printable(str(target)) + '\n')
    return exits.GOOD


def _stem(name: str) -> str:
    return 'stack' if name == '-' else pathlib.PurePath(name).stem


def _same(target: pathlib.Path, name: str) -> bool:
    return (name != '-' and target.exists()
            and os.path.samefile(target, name))


class _Dumper(yaml.SafeDumper):
    """Write text of several lines as a block, and no anchors, for legibility.
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
