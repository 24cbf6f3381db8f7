# SPDX-License-Identifier: Apache-2.0
"""The trace of an engine contains all transactions on the placement table."""

import inspect

from benchmarks.traced_engine import TRANSACTIONS
from nova_holistic.table.database import Database


def test_every_kind_of_transaction_is_recorded():
    """A group is planned and held after the last transaction that writes."""
    assert TRANSACTIONS.keys() == {
        name for name, method in vars(Database).items()
        if not name.startswith('_')
        and inspect.isgeneratorfunction(inspect.unwrap(method))}
