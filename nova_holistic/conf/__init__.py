# SPDX-License-Identifier: Apache-2.0
"""Configuration: one module an option group."""

from nova_holistic.conf import (
    database, holds, holistic, inventory, planner, reconciler, topology)

MODULES = (
    database, holds, holistic, inventory, planner, reconciler, topology)


def register_opts(conf):
    """Register every option of the project on a ConfigOpts."""
    for module in MODULES:
        module.register_opts(conf)


def list_opts():
    """(group, options) pairs for oslo-config-generator."""
    return [pair for module in MODULES for pair in module.list_opts()]
