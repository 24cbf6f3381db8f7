# SPDX-License-Identifier: Apache-2.0
"""The API as a separate service, from its configuration."""

from collections.abc import Mapping, Sequence
import importlib.metadata
import os

from oslo_config import cfg
from oslo_limit import opts as limit_opts
from oslo_log import log as logging

from nova_holistic.api.app import AppParts, make_app
from nova_holistic.api.checks.nova_quota import NovaQuota
from nova_holistic.api.middleware import with_middleware, Wsgi
from nova_holistic.boot.rights import Rights
from nova_holistic.cli.components import (
    boot_components, federation_components)
from nova_holistic.cli.components.connections import connect
from nova_holistic import conf as options
from nova_holistic.conf import log_setup, services, unreadable_files
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.messaging.client import EngineClient
from nova_holistic import objectives
from nova_holistic.observers import observe
from nova_holistic import supported
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table import startup_check
from nova_holistic.table.store import PlacementTable

FILES = 'OS_NOVA_HOLISTIC_CONFIG_FILES'
"""Environment variable with the configuration files, separated by semicolons.
Without it, oslo.config searches its default folders, first
/etc/nova-holistic."""


def build(environment: Mapping[str, str] = os.environ,
          conf: cfg.ConfigOpts = cfg.CONF) -> Wsgi:
    """The configured application of this process.

    :param conf: must be the global configuration, from which oslo.limit and
        keystonemiddleware read some of their options
    :raises oslo_config.cfg.Error: the configuration cannot be read, or the
        value of an option is invalid
    :raises InvalidPolicyFile: the policy file cannot be read
    :raises UnknownPlugin: the default objective is not installed
    :raises SchemaTooOld: the schema of the database must be upgraded first
    :raises NotConfigured: required options of [nova] or [boot] are missing
    :raises InvalidDocument: the file of children of a parent is invalid
    """
    configure(conf, _files(environment))
    options.check_values(conf)
    objectives.load_objective(conf.planner.objective, '[planner] objective')
    supported.warn_of_python()
    startup_check.check_schema_usable(conf)
    table = PlacementTable.from_conf(conf, 'api')
    observe(conf, table.database, 'api')
    clock = DatabaseClock(table.database)
    parent = federation_components.federation(conf, table, clock)
    if parent is not None:
        return with_middleware(conf, make_app(
            conf, table, parent.engines, clock,
            AppParts(federation=parent.engines,
                     credentials=parent.registrations)))
    return with_middleware(conf, make_app(
        conf, table, EngineClient.from_conf(conf), clock,
        AppParts(quota=_quota(conf), user_rights=_rights(conf))))


def configure(conf: cfg.ConfigOpts, files: Sequence[str] | None) -> None:
    """Read the configuration, and configure logging from it.

    :raises oslo_config.cfg.Error: a file of the configuration or of the logs
        cannot be opened, or an option is invalid
    """
    logging.register_options(conf)
    options.register_opts(conf)
    with unreadable_files.as_configuration_errors():
        conf([], project=log_setup.PROJECT, default_config_files=files,
             version=importlib.metadata.version('nova_holistic'))
    if conf.holistic_api.limits == 'oslo_limit':
        # Only now, because the configuration also determines which options
        # exist.
        limit_opts.register_opts(conf)
    log_setup.set_up(conf)


def _quota(conf: cfg.ConfigOpts) -> NovaQuota | None:
    """
    :raises NotConfigured: the quota check is enabled, and [nova] does not
        contain the options to connect to Nova
    """
    if not conf.holistic_api.check_nova_quota:
        return None
    services.register_opts(conf)
    return NovaQuota(ServiceClient('nova', connect(conf, 'nova')))


def _rights(conf: cfg.ConfigOpts) -> Rights | None:
    """
    :raises NotConfigured: [boot] has keys, and does not contain the options to
        connect to keystone
    """
    if not conf.boot.encryption_keys or conf.federation.children:
        # A parent encrypts the application credentials of users with the keys.
        return None
    services.register_opts(conf)
    return boot_components.rights(conf)


def _files(environment: Mapping[str, str]) -> Sequence[str] | None:
    names = [name.strip() for name in environment.get(FILES, '').split(';')]
    return [name for name in names if name] or None
