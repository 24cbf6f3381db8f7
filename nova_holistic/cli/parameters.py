# SPDX-License-Identifier: Apache-2.0
"""``--parameter KEY=VALUE`` and ``--environment FILE``, of every command that
reads a definition."""

import argparse


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--parameter', dest='parameters', action=_Parameter, default={},
        metavar='KEY=VALUE',
        help='value of a parameter of a Heat template; may be repeated')
    parser.add_argument(
        '--environment', dest='environments', action='append', default=[],
        metavar='FILE',
        help='environment of a Heat template, with values of parameters or '
             'templates in place of resource types; may be repeated, and '
             'later ones take precedence')


class _Parameter(argparse.Action):
    """Collects values by name; a repeated name is a usage error."""

    def __call__(self, parser, namespace, text, option_string=None):
        name, separator, value = text.partition('=')
        parameters = getattr(namespace, self.dest)
        if not name or not separator:
            raise argparse.ArgumentError(self, f'{text!r} is not KEY=VALUE')
        if name in parameters:
            raise argparse.ArgumentError(self, f'{name} is given twice')
        setattr(namespace, self.dest, {**parameters, name: value})
