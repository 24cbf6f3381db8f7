# SPDX-License-Identifier: Apache-2.0
"""Files that identify the nova-compute of a host, and stop it."""

import pathlib

from tools.cloud.layout import Layout


def pid_file(layout: Layout, host: str) -> pathlib.Path:
    """The file with the process ID of the nova-compute of a host."""
    return layout.state(host) / 'pid'


def down_file(layout: Layout, host: str) -> pathlib.Path:
    """If this file exists, the nova-compute of the host is not restarted."""
    return layout.state(host) / 'down'
