# SPDX-License-Identifier: Apache-2.0
"""How large the tests on the cloud are: ``--effort=short`` or ``full``.

Both have several clients at once, every shape of group, two engines, and six
servers at one moment; the full size has more of each.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """
    :ivar hosts: nova-computes of the cloud
    :ivar groups: that the clients create among the stock servers
    :ivar clients: that create groups and servers at once
    :ivar stock: stock servers that each stock client makes, in batches
    :ivar batch: stock servers of one request
    :ivar lasting: groups that are planned while something fails
    :ivar rounds: groups whose six servers are asked for at one moment
    :ivar stock_rounds: likewise, of stock servers
    :ivar booted: servers that one command creates
    """

    hosts: int
    groups: int
    clients: int
    stock: int
    batch: int
    lasting: int
    rounds: int
    stock_rounds: int
    booted: int


SIZES = {
    'short': Size(hosts=30, groups=8, clients=4, stock=15, batch=5,
                  lasting=12, rounds=3, stock_rounds=1, booted=12),
    'full': Size(hosts=50, groups=20, clients=8, stock=100, batch=10,
                 lasting=20, rounds=20, stock_rounds=3, booted=50)}
