# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic complete``: completion for bash."""

import argparse

from cliff import complete

_HELPER = '_get_comp_words_by_ref -n : cur prev words'
"""The helper that cliff's code calls; only the package bash-completion defines
it."""

_VARIABLES = '''cur="${COMP_WORDS[COMP_CWORD]}"
  prev="${COMP_WORDS[COMP_CWORD-1]}"
  words=("${COMP_WORDS[@]}")'''
"""Set these words from the variables of bash itself. No option or command
contains a colon, the case for which the helper exists."""


class Bash(complete.CompleteBash):
    """Code for bash that needs no other package."""

    def get_header(self) -> str:
        return super().get_header().replace(_HELPER, _VARIABLES)


class Complete(complete.CompleteCommand):
    """Print code that completes commands and options in bash.

    Load it with: source <(nova-holistic complete)
    """

    def take_action(self, args: argparse.Namespace) -> int:
        shell = Bash if args.shell == 'bash' else complete.CompleteNoCode
        output = shell(args.name or self.app.NAME, self.app.stdout)
        words = complete.CompleteDictionary()
        for name, _ in self.app.command_manager:
            words.add_command(name.split(), self.get_actions(name.split()))
        output.write(words.get_commands(), words.get_data())
        return 0
