# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.cloud.manage MODULE:FUNCTION COMMANDS``: run several
commands of one script, one after another.

COMMANDS is a JSON list of lists of words. Each command runs in a fork of a
process that has imported the script, because the import of Nova takes longer
than most of its commands.
"""

import importlib
import json
import os
import sys

from tools.forked_process import run_and_exit


def main(script: str, commands: str) -> int:
    module, _, function = script.partition(':')
    call = getattr(importlib.import_module(module), function)
    for words in json.loads(commands):
        child = os.fork()
        if not child:
            sys.argv = [module, *words]
            run_and_exit(call)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            print(f'{" ".join(words)}: ended with {code}', flush=True)
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
