# SPDX-License-Identifier: Apache-2.0
"""Functions that receive the changes that a process makes."""

from nova_holistic.metrics import exporter
from nova_holistic.notifications import publisher
from nova_holistic.table.database import Database


def observe(conf, database: Database, service: str) -> None:
    """Count the changes for Prometheus, and publish them as notifications, as
    the configuration specifies.

    :param service: name of the service in the publisher's id
    :raises NotInstalled: metrics are enabled, and prometheus_client is not
        installed
    :raises BadTransport: the transport of notifications does not exist
    """
    exporter.must_be_installed(conf)
    database.listen(exporter.count)
    publisher.follow(conf, database, service)
