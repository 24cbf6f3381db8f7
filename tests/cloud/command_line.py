# SPDX-License-Identifier: Apache-2.0
"""The ``openstack`` command with the environment of one user."""

import json
import os
import shlex

from tools.cloud.catalog import variables

WAIT_SECONDS = 900
"""Timeout of a script in seconds; the machine may be slow and shared."""


class Refused(Exception):
    """The command ended with an error. The message has its output."""


class CommandLine:
    """The command line of one user.

    :param run: ``installed`` of :mod:`tests.cloud.command_server`, or a
        function with the same parameters and result
    """

    def __init__(self, layout, user, run):
        self._run = run
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith('OS_')}
        self._environment = inherited | variables(layout, user)

    def __call__(self, *words):
        """Run one command with ``-f json``, and parse its output.

        :raises Refused: the command failed
        """
        return json.loads(self.plain(*words, '-f', 'json'))

    def plain(self, *words):
        """Run one command; returns its output as text."""
        result = self._run(
            [str(word) for word in words], self._environment, '', WAIT_SECONDS)
        if result.returncode:
            raise Refused(result.stderr)
        return result.stdout

    def script(self, commands):
        """Run several commands in one process; returns the output of each.

        :param commands: lists of words
        :raises Refused: one of the commands failed
        """
        commands = list(commands)
        result = self._run([], self._environment, '\n'.join(
            shlex.join([*map(str, words), '-f', 'json'])
            for words in commands) + '\n', WAIT_SECONDS)
        answers = list(_documents(result.stdout))
        if len(answers) != len(commands):
            raise Refused(result.stderr)
        return answers


def _documents(text):
    """Parse JSON documents that only white space separates."""
    decoder = json.JSONDecoder()
    at = 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        document, at = decoder.raw_decode(text, at)
        yield document
