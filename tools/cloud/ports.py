# SPDX-License-Identifier: Apache-2.0
"""Free loopback ports for servers that start later."""

from collections.abc import Sequence
import itertools
import random
import socket

ADDRESS = '127.0.0.1'
PORTS = range(15000, 30000)
"""These ports are below the ephemeral ports of the kernel, so no outgoing
connection takes a port before its server does."""


def free_ports(count: int, among: Sequence[int] = PORTS) -> list[int]:
    """Different free ports, chosen at random.

    :raises OSError: fewer ports are free
    """
    # Programs that seed the shared generator with the same number would choose
    # the same ports.
    chosen = random.SystemRandom().sample(among, len(among))
    free = list(itertools.islice(filter(_free, chosen), count))
    if len(free) < count:
        raise OSError(f'not {count} free ports in {among}')
    return free


def _free(port: int) -> bool:
    with socket.socket() as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            end.bind((ADDRESS, port))
        except OSError:
            return False
        return True
