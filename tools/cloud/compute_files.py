# SPDX-License-Identifier: Apache-2.0
"""Files by which the nova-compute of one host is found and stopped."""

import pathlib

from tools.cloud.layout import Layout


def pid_file(layout: Layout, host: str) -> pathlib.Path:
    """Where the number of the nova-compute of a host is written."""
    return layout.state(host) / 'pid'


def down_file(layout: Layout, host: str) -> pathlib.Path:
    """If it exists, the nova-compute of a host is not started again."""
    return layout.state(host) / 'down'
