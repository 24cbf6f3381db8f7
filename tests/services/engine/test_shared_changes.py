# SPDX-License-Identifier: Apache-2.0
"""A notification of Nova reaches one engine, which informs all engines."""

from tests.services.background_processes import WAIT_SECONDS, wait_for
from tests.services.engine.world import HOSTS
from tests.world.inventory import RackInventory


class MarkedInventory(RackInventory):
    """An inventory that records what was marked as changed.

    :ivar hosts: names of hosts that were marked as changed
    :ivar nova: number of times that services and aggregates were marked as
        changed
    """

    def __init__(self, world):
        super().__init__(world.placement, world.hosts, HOSTS)
        self.hosts = []
        self.nova = 0

    def mark_hosts(self, names):
        self.hosts.extend(names)

    def mark_nova(self):
        self.nova += 1


def test_every_engine_receives_the_notifications_of_one_engine(rabbit_world):
    inventories = [MarkedInventory(rabbit_world) for _ in range(2)]
    for inventory in inventories:
        engine = rabbit_world.start(inventory=inventory, listens=True)
        assert engine.listener.wait_until_listening(WAIT_SECONDS)
        assert engine.notifications.wait_until_listening(WAIT_SECONDS)
    sender = rabbit_world.nova()
    names = [f'cmp-{number}' for number in range(6)]
    for name in names:
        sender.info({}, 'instance.create.end', {
            'nova_object.data': {'host': name}})
    sender.info({}, 'aggregate.add_host.end', {'nova_object.data': {}})

    def all_know():
        return all(set(names) <= set(each.hosts) and each.nova
                   for each in inventories)

    wait_for('both engines to know', all_know)
    # The message of an engine to itself does not mark the host again.
    assert [each.hosts.count(name) for each in inventories
            for name in names] == [1] * 12
    assert [each.nova for each in inventories] == [1, 1]
    rabbit_world.assert_agreement()
