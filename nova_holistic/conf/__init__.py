# SPDX-License-Identifier: Apache-2.0
"""Configuration: one module per option group."""

from nova_holistic.conf import (
    api, boot, cinder_scheduler, database, engine, federation, holds, holistic,
    inventory, metrics, notifications, nova_notifications, nova_options,
    planner, reconciler, services, topology)

MODULES = (
    api, boot, cinder_scheduler, database, engine, federation, holds, holistic,
    inventory, metrics, notifications, nova_notifications, planner, reconciler,
    topology)


def register_opts(conf):
    """Register every option of the project on a ConfigOpts.

    The options of ``services`` are registered by the commands that connect
    with them.
    """
    for module in MODULES:
        module.register_opts(conf)
    nova_options.register_opts(conf)


def list_opts():
    """(group, options) pairs for oslo-config-generator."""
    return [pair for module in (*MODULES, nova_options, services)
            for pair in module.list_opts()]
