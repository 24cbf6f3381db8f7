# SPDX-License-Identifier: Apache-2.0
"""A process that reports the URL in its options, and ends at a crash point or
when its standard input ends."""

import json
import sys

from nova_holistic import crash_points


def main():
    options = json.loads(sys.argv[1])
    print('started', file=sys.stderr)
    print(json.dumps({'url': options['url']}), flush=True)
    crash_points.reached('federation.part-created')
    sys.stdin.read()
