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
import traceback


def main(script: str, commands: str) -> int:
    module, _, function = script.partition(':')
    call = getattr(importlib.import_module(module), function)
    for words in json.loads(commands):
        child = os.fork()
        if not child:
            _run_command(call, [module, *words])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            print(f'{" ".join(words)}: ended with {code}', flush=True)
            return 1
    return 0


def _run_command(call, arguments: list[str]) -> None:
    """Run the command in the current process; never returns."""
    status = 1
    try:
        sys.argv = arguments
        status = call() or 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(status))


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
