# SPDX-License-Identifier: Apache-2.0
"""Functions that receive the changes that a process makes."""

from nova_holistic.metrics import exporter
from nova_holistic.notifications import publisher
from nova_holistic.table.database import Database


def observe(conf, database: Database, service: str) -> None:
    """Count the changes for Prometheus, and publish them as notifications,
    as far as the configuration asks for it.

    :param service: name of the service in the publisher's id
    :raises NotInstalled: metrics need what is not installed
    :raises BadTransport: there is no such transport of notifications
    """
    exporter.must_be_installed(conf)
    database.listen(exporter.count)
    publisher.follow(conf, database, service)
