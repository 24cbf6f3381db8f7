# SPDX-License-Identifier: Apache-2.0
"""Configuration: one module per option group."""

import math

from oslo_config import cfg
from oslo_config import types

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


def check_values(conf, in_nova: bool = False) -> None:
    """Ensure that the value of every option of the project is valid.

    oslo.config converts a value only when it is read. Without this check, a
    service starts with an invalid value, and the work that reads it fails
    later.

    :param in_nova: whether this is a process of Nova, which decides about
        its own options
    :raises oslo_config.cfg.ConfigFileValueError: a value is invalid; the
        message names the group and the option
    """
    for module in MODULES if in_nova else (*MODULES, nova_options):
        for group, opts in module.list_opts():
            name = getattr(group, 'name', group)
            for opt in opts:
                _check_value(conf, name, opt)
    if not in_nova and conf.engine.stale_after <= conf.engine.heartbeat:
        raise cfg.ConfigFileValueError(
            '[engine]: Value for option stale_after is not valid: '
            f'{conf.engine.stale_after} is not greater than heartbeat, which '
            f'is {conf.engine.heartbeat}')


def _check_value(conf, group: str, opt: cfg.Opt) -> None:
    name = opt.dest
    try:
        value = getattr(conf if group == 'DEFAULT' else conf[group], name)
    except (cfg.NoSuchOptError, cfg.TemplateSubstitutionError) as error:
        # The messages of these errors name only the other option.
        raise cfg.ConfigFileValueError(
            f'[{group}]: Value for option {name} is not valid: {error}'
        ) from error
    except cfg.Error as error:
        raise cfg.ConfigFileValueError(f'[{group}]: {error}') from error
    # oslo.config reads an empty number as None.
    if value is None and opt.default is not None and isinstance(
            opt.type, types.Number):
        raise cfg.ConfigFileValueError(
            f'[{group}]: Value for option {name} is not valid: it is empty')
    # NaN is neither below a minimum nor above a maximum.
    if isinstance(value, float) and not math.isfinite(value):
        raise cfg.ConfigFileValueError(
            f'[{group}]: Value for option {name} is not valid: {value} is '
            'not a finite number')
