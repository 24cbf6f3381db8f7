# SPDX-License-Identifier: Apache-2.0
"""A fake hypervisor that tests can fill. Its node is the same after a restart.
"""

from nova.virt import fake
from nova.virt import node


class Hypervisor(fake.FakeDriver):
    vcpus = 16
    memory_mb = 65536
    local_gb = 1000

    def get_available_resource(self, nodename):
        # Nova's fake driver chooses another identity at each start.
        return super().get_available_resource(nodename) | {
            'uuid': node.get_local_node_uuid()}

    def get_nodenames_by_uuid(self, refresh=False):
        return {node.get_local_node_uuid(): name
                for name in self.get_available_nodes(refresh)}
