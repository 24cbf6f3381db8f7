# SPDX-License-Identifier: Apache-2.0
"""Many threads of one process use the databases of several cells."""

import contextlib
import importlib
from types import SimpleNamespace

from nova import context as nova_context
import pytest


class Interference:
    """A lock whose first readers find that another thread has selected
    another cell.

    :ivar left: number of such readers
    """

    def __init__(self, databases, left):
        self._databases = databases
        self._lock = databases._cell_lock
        self.left = left

    def write_lock(self):
        return self._lock.write_lock()

    @contextlib.contextmanager
    def read_lock(self):
        with self._lock.read_lock():
            if self.left:
                self.left -= 1
                self._databases._last_ctxt_mgr = object()
            yield


@pytest.mark.parametrize('readers', [0, 1, 4, 9])
def test_a_thread_reaches_its_cell_although_others_select_another(
        cloud, monkeypatch, readers):
    databases = nova_context.target_cell.__self__
    lock = Interference(databases, readers)
    monkeypatch.setattr(databases, '_cell_lock', lock)
    monkeypatch.setattr(
        importlib.import_module('nova.tests.fixtures.nova'), 'time',
        SimpleNamespace(sleep=lambda seconds: None))
    with nova_context.target_cell(nova_context.get_admin_context(),
                                  cloud.computes.cell) as target:
        assert target.cell_uuid == cloud.computes.cell.uuid
    assert lock.left == 0
