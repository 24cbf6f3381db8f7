# SPDX-License-Identifier: Apache-2.0
"""The API and an engine in one process: ``python -m
tests.cinder.holistic_process OPTIONS``.

OPTIONS is a JSON object with the key ``file``, which is the path of the
configuration, and optionally the key ``engine``: false starts the API only.
The process ends when its standard input ends.
"""

import json
import os
import signal
import sys
import threading

from nova_holistic.api import deploy
from nova_holistic.cli import engine
from tests.compiled_table import compile_statements
from tools.federation.http_server import serve


def preload():
    """Prepare what the forks of this process share."""
    compile_statements()


def main():
    options = json.loads(sys.argv[1])
    api = deploy.build({deploy.FILES: options['file']})

    def serve_until_end():
        serve(api, 0)
        os.kill(os.getpid(), signal.SIGTERM)

    if options.get('engine', True):
        threading.Thread(target=serve_until_end, daemon=True).start()
        # Messages of the API reach the engine by ``fake://`` in this process.
        sys.exit(engine.main(['--config-file', options['file']]))
    serve(api, 0)


if __name__ == '__main__':
    main()
