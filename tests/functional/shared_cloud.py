# SPDX-License-Identifier: Apache-2.0
"""One embedded cloud that test modules use one after the other.

The start of a cloud takes seconds of processor time, and only one cloud can
run in a process at a time. The shared cloud starts when a test first needs it.
Each borrower gets the hosts, the scheduler and the options of this project
that it requests: missing hosts are added to the cloud, and other hosts are
removed. Everything else is in the state after the start of the cloud.

A test needs a separate cloud if its subject is how a cloud starts, if it sets
options of Nova that are read at the start, or if it inserts hosts, which
cannot be removed.
"""

import contextlib
import functools

from nova_holistic.embedded.project_components import ProjectComponents
from tests.functional.cloud_cleaning import Cleaning
from tests.functional.planned_cloud import PlannedCloud

PARTS = [name for name, value in vars(ProjectComponents).items()
         if isinstance(value, functools.cached_property)]


class SharedCloud:
    """Lends its cloud to one borrower at a time."""

    def __init__(self):
        self._cloud = None
        self._cleaning = None
        self._lent = False

    @contextlib.contextmanager
    def lend(self, hosts, *, scheduler='holistic', options=None):
        """Yield the cloud with these hosts, and clean it at the end.

        :param options: options of this project, ``{(group, name): value}``
        :raises AssertionError: the cloud has a borrower; at the end: the cloud
            still differs from a new one after it was cleaned
        """
        assert not self._lent, 'the shared cloud has a borrower'
        try:
            cloud = self._adapted(tuple(hosts), scheduler)
            self._lent = True
            with self._overridden(options or {}):
                cloud.restart_scheduler(scheduler)
                yield cloud
            self._take_back(cloud)
        except BaseException:
            # A cloud that was not cleaned completely is not lent again.
            self._lent = False
            self.stop()
            raise
        self._lent = False

    def stop(self):
        """Stop the cloud, because only one cloud can run at a time."""
        assert not self._lent, 'the shared cloud has a borrower'
        cloud, self._cloud = self._cloud, None
        if cloud is not None:
            cloud.cleanUp()

    def _adapted(self, hosts, scheduler):
        """The cloud with exactly these hosts."""
        if self._cloud is None:
            cloud = PlannedCloud(hosts, scheduler=scheduler)
            cloud.setUp()
            self._cloud, self._cleaning = cloud, Cleaning(cloud)
            return cloud
        cloud = self._cloud
        self._remove([host for host in cloud.hosts if host not in hosts])
        cloud.put_load(cloud.hosts)
        cloud.add_hosts([host for host in hosts if host not in cloud.hosts])
        # Some methods of a cloud go through its hosts in order.
        cloud.hosts = hosts
        self._cleaning.remember_hosts()
        return cloud

    def _take_back(self, cloud):
        """Restore the initial state of the cloud, and assert that it is
        restored."""
        self._forget_parts(cloud)
        self._cleaning.clean()
        self._remove(self._cleaning.worn_hosts())
        leftovers = self._cleaning.leftovers()
        assert not leftovers, f'the cloud is not as new: {leftovers}'
        self._forget_parts(cloud)

    @staticmethod
    def _forget_parts(cloud):
        """Drop the components of the cloud, so that the next borrower gets new
        ones with its own options."""
        if 'table' in cloud.__dict__:
            cloud.table.database.close()
        for name in PARTS:
            cloud.__dict__.pop(name, None)

    def _remove(self, hosts):
        if hosts:
            self._cloud.remove_hosts([host.name for host in hosts])
            self._cleaning.restore_aggregates()
            self._cleaning.remember_hosts()

    @contextlib.contextmanager
    def _overridden(self, options):
        """Set options, and restore all options of the project at the end."""
        conf = self._cloud.conf
        with self._cleaning.restored_options():
            for (group, name), value in options.items():
                conf.set_override(name, value, group)
            yield
