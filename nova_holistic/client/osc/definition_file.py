# SPDX-License-Identifier: Apache-2.0
"""``-f FILE``: the definition that a command sends.

``-f`` is also cliff's option for the format of the output. This module
supports both: if the value is the name of a format, it selects the format; any
other value is a file. ``--file`` and ``--format`` are unambiguous.
"""

import argparse
import sys
from typing import Any
import warnings

from cliff.command import Command
import stevedore

from nova_holistic.cli import files, parameters
from nova_holistic.client.osc.command import BadInput
from nova_holistic.documents.definition import (
    is_template, read_definition, split_definition)
from nova_holistic.policies import load_policy_types

_FORMATS = 'cliff.formatter.show'


class DefinitionFile(Command):
    """A base class before cliff's Command and after the classes that show the
    output, so that its ``-f`` is added first."""

    conflict_handler = 'ignore'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '-f', action=_FileOrFormat, dest='file', metavar='<file>',
            help='Group document or Heat template, - is standard input; or '
                 'the name of an output format')
        parser.add_argument(
            '--file', metavar='<file>', help='Same as -f <file>')
        parameters.add_option(parser)
        # The classes after this one add their ``-f``, which gives way.
        warnings.filterwarnings(
            'ignore', 'Ignoring option string -f', UserWarning)
        return parser

    def definition(self, args: argparse.Namespace) -> dict[str, Any]:
        """The group document in the file, or that of the template in it.

        :raises BadFile: the file is invalid; the error names the position
        """
        if args.file is None:
            raise BadInput('a definition is missing: -f <file>')
        read = files.Files(sys.stdin)
        document = read.document(args.file)
        inputs = read.template_inputs(
            args.file, document, args.parameters, args.environments)
        with read.with_file_name(args.file):
            if is_template(document):
                return split_definition(
                    document, load_policy_types(), inputs.parameters,
                    inputs.source)[0]
            read_definition(document, load_policy_types(), inputs.parameters)
        return document


class _FileOrFormat(argparse.Action):
    """The name of a format selects the format; any other value is a file."""

    def __call__(self, parser, namespace, text, option_string=None):
        formats = stevedore.ExtensionManager(_FORMATS).names()
        setattr(namespace, 'formatter' if text in formats else 'file', text)
