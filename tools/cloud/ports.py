# SPDX-License-Identifier: Apache-2.0
"""Ports of loopback for servers that start later."""

from collections.abc import Sequence
import itertools
import random
import socket

ADDRESS = '127.0.0.1'
PORTS = range(15000, 30000)
"""Below those that the kernel gives to connections, so that no connection
takes a port before its server does."""


def free_ports(count: int, among: Sequence[int] = PORTS) -> list[int]:
    """Different ports on which nobody listens, chosen at random.

    :raises OSError: there are not as many
    """
    # Programs that seed the shared generator alike would choose alike.
    chosen = random.SystemRandom().sample(among, len(among))
    found = list(itertools.islice(filter(_free, chosen), count))
    if len(found) < count:
        raise OSError(f'not {count} free ports in {among}')
    return found


def _free(port: int) -> bool:
    with socket.socket() as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            end.bind((ADDRESS, port))
        except OSError:
            return False
        return True
