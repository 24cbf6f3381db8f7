# SPDX-License-Identifier: Apache-2.0
"""A manager of nova-scheduler that refreshes the hosts in its memory."""

from oslo_log import log as logging
from oslo_service import periodic_task

import nova.conf
from nova.scheduler import manager

from nova_holistic import conf, exceptions
from nova_holistic.scheduler import connections, nova_errors
from nova_holistic.scheduler.hosts import all_hosts

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

# The decorator needs the interval when this module is imported, as in Nova's
# own manager.
conf.register_opts(CONF)


class RefreshingManager(manager.SchedulerManager):
    """Stock Nova's manager, with a periodic task that compares all hosts with
    Nova's databases, so that creates need not wait for this comparison."""

    # oslo.service replaces an interval of 0 by its default. The first run is
    # soon after the start, but does not delay it: it reads all hosts if a
    # group needs them, so that the first create does not have to.
    @periodic_task.periodic_task(spacing=CONF.holistic.host_refresh_interval,
                                 run_immediately=True)
    def _refresh_hosts(self, context):
        """:param context: ignored, because it belongs to no user"""
        if not CONF.holistic.host_refresh_interval:
            return
        try:
            with nova_errors.as_refusals():
                all_hosts.refresh(connections.get())
        except exceptions.HolisticError as error:
            LOG.warning('The hosts for the policies of groups cannot be '
                        'refreshed: %s', error)
