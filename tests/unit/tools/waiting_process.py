# SPDX-License-Identifier: Apache-2.0
"""A process that reports the URL in its options, and ends at a crash point or
when its standard input ends."""

import json
import os
import sys

from nova_holistic import crash_points

_preloaded = []


def preload():
    _preloaded.append(os.getpid())


def main():
    options = json.loads(sys.argv[1])
    # The processes share one log. ``print`` writes each word separately, so
    # that their lines could mix.
    sys.stderr.write(f'preloaded by {" ".join(map(str, _preloaded))}\n')
    print(json.dumps({'url': options['url']}), flush=True)
    crash_points.reached('federation.part-created')
    sys.stdin.read()
