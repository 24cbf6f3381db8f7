# SPDX-License-Identifier: Apache-2.0
"""Every command and every argument has a help text."""

import argparse
import importlib
import pkgutil

from cliff.command import Command
import pytest

from nova_holistic.cli import manage
from nova_holistic.client import osc

MODULES = [importlib.import_module(f'{osc.__name__}.{module.name}')
           for module in pkgutil.iter_modules(osc.__path__)]
PLUGIN = sorted({
    each for module in MODULES for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, Command)
    and each.__module__ == module.__name__
    and hasattr(each, 'take_action')
    and each.__name__ not in ('DefinitionFile', 'WaitingCommand')},
    key=lambda each: each.__name__)


def _without_help(parser):
    return [action.dest for action in parser._actions
            if not action.help
            and not isinstance(action, argparse._SubParsersAction)]


def _manage_parsers():
    parser = argparse.ArgumentParser(prog='nova-holistic-manage')
    commands = parser.add_subparsers()
    manage._add_commands(commands)
    return commands


def _sub_parsers(commands, words=()):
    for name, parser in commands.choices.items():
        yield (*words, name), parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from _sub_parsers(action, (*words, name))


def test_each_command_of_the_operator_has_a_description():
    parsers = dict(_sub_parsers(_manage_parsers()))
    assert parsers.keys() >= manage.COMMANDS.keys()
    for words, parser in parsers.items():
        assert parser.description, words
        assert _without_help(parser) == [], words


def test_the_list_of_commands_explains_each_command():
    commands = _manage_parsers()
    assert {choice.dest for choice in commands._choices_actions
            if choice.help} == set(commands.choices)


def test_group_commands_take_the_uuid_of_the_group():
    parsers = dict(_sub_parsers(_manage_parsers()))
    for verb in ('show', 'release', 'extend', 'replan', 'delete'):
        assert 'UUID of the group' in parsers['group', verb].format_help()


def test_every_command_of_the_plugin_is_checked():
    assert len(PLUGIN) >= 25


@pytest.mark.parametrize('command', PLUGIN, ids=lambda each: each.__name__)
def test_each_command_of_the_plugin_explains_its_arguments(command):
    made = command(None, None)
    assert made.get_description()
    assert _without_help(made.get_parser('openstack')) == []
