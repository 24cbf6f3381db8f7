# SPDX-License-Identifier: Apache-2.0
"""Keeps requests out of the log.

Nova and Placement write a line for each request, which takes a fiftieth of the
processor time of a cloud in one process. The file is deleted with the cloud.
"""

import logging

import fixtures

LOGGERS = ('nova.api.openstack.requestlog', 'placement.requestlog')


class QuietRequests(fixtures.Fixture):
    """While it is active, these lines are not written."""

    def _setUp(self):
        for name in LOGGERS:
            logger = logging.getLogger(name)
            self.addCleanup(logger.setLevel, logger.level)
            logger.setLevel(logging.WARNING)
