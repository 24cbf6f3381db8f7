# SPDX-License-Identifier: Apache-2.0
"""The API as a service of its own, from its configuration."""

from collections.abc import Mapping, Sequence
import importlib.metadata
import os

from oslo_config import cfg
from oslo_limit import opts as limit_opts
from oslo_log import log as logging

from nova_holistic.api.app import make_app
from nova_holistic.api.guard import guarded, Wsgi
from nova_holistic.api.nova_quota import NovaQuota
from nova_holistic.cli.connect import connect
from nova_holistic import conf as options
from nova_holistic.conf import services
from nova_holistic.inventory.service import Service
from nova_holistic.messaging.client import EngineClient
from nova_holistic.observers import observe
from nova_holistic import supported
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table import start
from nova_holistic.table.store import PlacementTable

PROJECT = 'nova-holistic'
FILES = 'OS_NOVA_HOLISTIC_CONFIG_FILES'
"""Environment variable: configuration files, separated by semicolons; without
it they are looked for as oslo.config does, in /etc/nova-holistic first of
all."""


def build(environment: Mapping[str, str] = os.environ,
          conf: cfg.ConfigOpts = cfg.CONF) -> Wsgi:
    """The application of this process, configured.

    :param conf: oslo.limit and keystonemiddleware know the global one alone
        for some of their options
    :raises oslo_config.cfg.Error: the configuration cannot be read
    :raises SchemaTooOld: the database is to be upgraded first
    :raises NotConfigured: the options of [nova] are needed and missing
    """
    configure(conf, _files(environment))
    supported.warn_of_python()
    start.must_be_usable(conf)
    table = PlacementTable.from_conf(conf, 'api')
    observe(conf, table.database, 'api')
    return guarded(conf, make_app(
        conf, table, EngineClient.from_conf(conf),
        DatabaseClock(table.database), quota=_quota(conf)))


def configure(conf: cfg.ConfigOpts, files: Sequence[str] | None) -> None:
    """Read the configuration, and log as it says."""
    logging.register_options(conf)
    options.register_opts(conf)
    conf([], project=PROJECT, default_config_files=files,
         version=importlib.metadata.version('nova_holistic'))
    if conf.holistic_api.limits == 'oslo_limit':
        # Only now: which options there are is configured, too.
        limit_opts.register_opts(conf)
    logging.setup(conf, PROJECT)


def _quota(conf: cfg.ConfigOpts) -> NovaQuota | None:
    """
    :raises NotConfigured: the quota is to be checked, and [nova] does not say
        how to reach Nova
    """
    if not conf.holistic_api.check_nova_quota:
        return None
    services.register_opts(conf)
    return NovaQuota(Service('nova', connect(conf, 'nova')))


def _files(environment: Mapping[str, str]) -> Sequence[str] | None:
    names = [name.strip() for name in environment.get(FILES, '').split(';')]
    return [name for name in names if name] or None
