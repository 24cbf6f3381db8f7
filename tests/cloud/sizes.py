# SPDX-License-Identifier: Apache-2.0
"""The size of the tests on the cloud: ``--effort=short`` or ``full``.

Both sizes have several clients at the same time, every shape of group, two
engines, and six servers that are requested at the same moment. The full size
has more of each.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Numbers of objects in the tests.

    :ivar hosts: nova-computes of the cloud
    :ivar rack: hosts of each rack
    :ivar groups: groups that the clients create while stock servers are
        created
    :ivar clients: clients that create groups and servers at the same time
    :ivar stock: stock servers of each stock client, which creates them in
        batches
    :ivar batch: stock servers of one request
    :ivar lasting: groups that are planned during a failure
    :ivar rounds: groups whose six servers are requested at one moment
    :ivar stock_rounds: rounds with six servers of a Nova server group
    :ivar booted: servers that one command creates
    """

    hosts: int
    rack: int
    groups: int
    clients: int
    stock: int
    batch: int
    lasting: int
    rounds: int
    stock_rounds: int
    booted: int


SIZES = {
    'short': Size(hosts=18, rack=3, groups=4, clients=4, stock=10, batch=5,
                  lasting=12, rounds=3, stock_rounds=1, booted=12),
    'full': Size(hosts=50, rack=5, groups=20, clients=8, stock=100, batch=10,
                 lasting=20, rounds=20, stock_rounds=3, booted=50)}
