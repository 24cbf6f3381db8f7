# SPDX-License-Identifier: Apache-2.0
"""A port that was chosen earlier is still free when the server starts."""

import pathlib
import socket

import pytest

from tools.cloud import ports

CONNECTIONS = pathlib.Path('/proc/sys/net/ipv4/ip_local_port_range')


def test_ports_are_different_and_not_ephemeral():
    found = ports.free_ports(50)
    assert len(set(found)) == 50
    lowest, _ = map(int, CONNECTIONS.read_text().split())
    assert max(found) < lowest


def test_a_port_with_a_listener_is_not_free():
    with socket.socket() as listener:
        listener.bind((ports.ADDRESS, 0))
        listener.listen()
        with pytest.raises(OSError, match='not 1 free ports'):
            ports.free_ports(1, [listener.getsockname()[1]])


def test_the_only_free_port_is_found():
    only = ports.free_ports(1)
    assert ports.free_ports(1, only) == only
