# SPDX-License-Identifier: Apache-2.0
"""Nova's servers, in a test without Nova."""

from dataclasses import replace

from nova_holistic.reconcile.instances import Instances, InstanceView


class KnownInstances(Instances):
    """Servers that the scenario says there are.

    :ivar deleted: UUIDs of servers that Nova remembers to have deleted
    :ivar moves: MoveView of each server that is moving, by its UUID
    :ivar progress: when Nova last did something with a server, by its UUID
    """

    def __init__(self):
        self.views = {}
        self.deleted = set()
        self.progress = {}
        self.moves = {}

    def get(self, instance_uuid):
        return self.views.get(instance_uuid)

    def was_deleted(self, instance_uuid):
        return instance_uuid in self.deleted

    def progressed_at(self, instance_uuid):
        return self.progress.get(instance_uuid)

    def set(self, instance_uuid, status, host=None, *, launched=False,
            fault=None, flavor=''):
        """
        :param fault: whether Nova states why the server is in ERROR. Nova
            does not if a user has set this status.
        """
        self.views[instance_uuid] = InstanceView(
            instance_uuid, host, status, launched=launched, flavor=flavor,
            fault=status == 'ERROR' if fault is None else fault)

    def move(self, instance_uuid):
        return self.moves.get(instance_uuid)

    def live_migrate(self, instance_uuid, host):
        """A live migration that ends immediately."""
        self.views[instance_uuid] = replace(
            self.views[instance_uuid], host=host)

    def migrate(self, instance_uuid, host):
        """A cold migration that ends immediately and is confirmed."""
        self.live_migrate(instance_uuid, host)

    def delete(self, instance_uuid):
        """The server is deleted, and Nova remembers that."""
        self.views.pop(instance_uuid, None)
        self.deleted.add(instance_uuid)
