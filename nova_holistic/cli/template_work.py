# SPDX-License-Identifier: Apache-2.0
"""The work of ``nova-holistic template``, apart from its options."""

import argparse
import errno
import os
import pathlib
import re
from typing import TextIO

import yaml

from nova_holistic.cli import exits, files
from nova_holistic.cli.heat_templates import relocation
from nova_holistic.documents.definition import split_template
from nova_holistic import exceptions
from nova_holistic.picture.text_fitting import printable
from nova_holistic.policies import load_policy_types


def split(args: argparse.Namespace, stdin: TextIO | None,
          stdout: TextIO) -> int:
    """Write all files; returns the exit code."""
    read = files.Files(stdin)
    document = read.document(args.template)
    inputs = read.template_inputs(
        args.template, document, args.parameters, args.environments)
    stem = _stem(args.template)
    names = _Names(stem)
    with read.with_file_name(args.template):
        result = split_template(
            document, load_policy_types(), inputs.parameters, inputs.source,
            names)
    folder = pathlib.Path(args.output_dir)
    with files.with_file_name(args.output_dir):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(
                errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error
    written = [(f'{stem}-group.yaml', {'group': result.group}, '')]
    written += [(name, template, source) for name, template, source in (
        (f'{stem}-template.yaml', result.template, args.template),
        *((names(source_name), plain, source_name)
          for source_name, plain in result.nested.items()))]
    for name, _, _ in written:
        for source in (args.template, *result.nested, *args.environments):
            if _same(folder / name, source):
                kind = 'the template' if source == args.template else 'a file'
                raise exceptions.HolisticError(
                    f'{folder / name}: this is {kind} that was read')
    for name, content, source in written:
        files.write(str(folder / name), _yaml(relocation.relocated(
            content, os.path.dirname(source), str(folder), names.all())))
        stdout.write(printable(str(folder / name)) + '\n')
    return exits.GOOD


class _Names:
    """Names of plain nested templates, by the names of the files that were
    read.

    :param stem: of the names of all files
    """

    def __init__(self, stem: str):
        self._stem = stem
        self._found: dict[str, str] = {}

    def __call__(self, source: str) -> str:
        if source not in self._found:
            stem, number = f'{self._stem}-{_stem(source)}', 1
            name = f'{stem}.yaml'
            while name in self._used_names():
                number += 1
                name = f'{stem}-{number}.yaml'
            self._found[source] = name
        return self._found[source]

    def all(self) -> frozenset[str]:
        return frozenset(self._found.values())

    def _used_names(self) -> set[str]:
        return {f'{self._stem}-group.yaml', f'{self._stem}-template.yaml',
                *self._found.values()}


def _stem(name: str) -> str:
    return 'stack' if name == '-' else pathlib.PurePath(name).stem


def _same(target: pathlib.Path, name: str) -> bool:
    return (name != '-' and target.exists()
            and os.path.samefile(target, name))


_OTHER_BREAKS = re.compile('[\x85\u2028\u2029]')
"""Line breaks that YAML changes into spaces or new lines."""


class _Dumper(yaml.SafeDumper):
    """Write text of several lines as a block, and no anchors, for legibility.
    """

    def ignore_aliases(self, data):
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '|' if '\n' in text else None
    if _OTHER_BREAKS.search(text):
        # Only an escape keeps such a character.
        style = '"'
    return dumper.represent_scalar('tag:yaml.org,2002:str', text, style=style)


_Dumper.add_representer(str, _text)


def _yaml(content: dict) -> bytes:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False,
                     allow_unicode=True, encoding='utf-8')
