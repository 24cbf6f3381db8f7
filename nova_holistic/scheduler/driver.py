# SPDX-License-Identifier: Apache-2.0
"""The option [scheduler] driver, which Nova supported up to version 22."""

from oslo_config import cfg

import nova.conf
from nova import service
from nova_holistic import plugins

NAMESPACE = 'nova.scheduler.driver'

OPTS = [
    cfg.StrOpt(
        'driver', default='holistic_scheduler',
        help='Manager of nova-scheduler: the name of an entry point in '
             'nova.scheduler.driver. holistic_scheduler places servers on '
             'their planned hosts; filter_scheduler is stock Nova.'),
]


def install() -> None:
    """Register the option, and let it select the manager of each
    nova-scheduler that is created after this call."""
    nova.conf.CONF.register_opts(OPTS, group='scheduler')
    service.SERVICE_MANAGERS['nova-scheduler'] = f'{__name__}.make_manager'


def make_manager(*args, **kwargs):
    """Create the manager that nova.conf names.

    Nova calls this after its configuration is parsed. nova.scheduler.manager
    must not be imported earlier, because it reads an option when it is
    imported.

    :raises UnknownPlugin: no such driver is installed
    """
    return load(nova.conf.CONF.scheduler.driver)(*args, **kwargs)


def load(name: str) -> type:
    """The manager class of that name.

    :raises UnknownPlugin: no such driver is installed
    """
    return plugins.load(NAMESPACE, name, '[scheduler] driver')
