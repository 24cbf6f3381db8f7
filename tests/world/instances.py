# SPDX-License-Identifier: Apache-2.0
"""Nova's servers, in a test without Nova."""

from nova_holistic.engine.instances import Instances, InstanceView


class KnownInstances(Instances):
    """Servers that the scenario says there are."""

    def __init__(self):
        self.views = {}

    def get(self, instance_uuid):
        return self.views.get(instance_uuid)

    def set(self, instance_uuid, status, host=None):
        self.views[instance_uuid] = InstanceView(instance_uuid, host, status)
