# SPDX-License-Identifier: Apache-2.0
"""The effects of this process's requests that the inventory learns."""

from types import SimpleNamespace

import pytest

from nova_holistic.holds.use_tracking_adapter import (
    DROPPED, UseTrackingAdapter)
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping


class Inventory:
    """Records the calls."""

    def __init__(self):
        self.marked, self.used, self.changed = [], [], []

    def moment(self):
        return 7

    def mark_providers(self, uuids):
        self.marked.append(set(uuids))

    def mark_use(self, uuids):
        self.used.append(set(uuids))

    def change_use(self, since, changes):
        assert since == 7
        self.changed.append(dict(changes))


class Adapter(UseTrackingAdapter):
    """An adapter whose Placement responds with the status that a test sets."""

    def __init__(self):
        self.inventory, self.status, self.now = Inventory(), 204, 0.0
        super().__init__(self, self.inventory, lambda: self.now)
        self._adapter = SimpleNamespace(request=self._answer)

    def _answer(self, path, method, **options):
        if self.status is None:
            raise ConnectionError('no answer')
        return SimpleNamespace(status_code=self.status)

    def post(self, **consumers):
        return self.request('/allocations', 'POST', json=consumers)


def filled(provider='p1', generation=None, **amounts):
    return {'allocations': {provider: {'resources': amounts or {'VCPU': 2}}},
            'consumer_generation': generation}


def emptied(generation=1):
    return {'allocations': {}, 'consumer_generation': generation}


def change(consumers, **amounts):
    return UseChange(consumers, FrozenMapping(amounts))


@pytest.fixture
def adapter():
    return Adapter()


def test_new_consumers_of_one_provider_add_up(adapter):
    adapter.post(a=filled(), b=filled(VCPU=1, DISK_GB=5), c=filled('p2'))
    assert adapter.inventory.changed == [{
        'p1': change(2, VCPU=3, DISK_GB=5), 'p2': change(1, VCPU=2)}]
    assert adapter.inventory.marked == []


def test_emptied_holds_give_back_what_they_had(adapter):
    adapter.post(a=filled(), b=filled())
    adapter.post(a=emptied())
    adapter.post(b=emptied(), c=filled('p2'))
    assert adapter.inventory.changed[1:] == [
        {'p1': change(-1, VCPU=-2)},
        {'p1': change(-1, VCPU=-2), 'p2': change(1, VCPU=2)}]


@pytest.mark.parametrize('consumer', [
    filled(generation=1), emptied(2), emptied(None)])
def test_an_unknown_effect_marks_the_providers(adapter, consumer):
    adapter.post(a=filled())
    adapter.post(a=consumer)
    assert adapter.inventory.marked == [{'p1'}]
    assert len(adapter.inventory.changed) == 1


@pytest.mark.parametrize('status', [409, 500, None])
def test_a_failed_request_marks_the_providers(adapter, status):
    adapter.status = status
    try:
        adapter.post(a=filled(), b=filled('p2'))
    except ConnectionError:
        assert status is None
    assert adapter.inventory.marked == [{'p1', 'p2'}]
    assert adapter.inventory.changed == []


def test_a_repeated_drop_marks_the_use_for_ten_minutes(adapter):
    """After that, the hold is forgotten, so that memory does not grow."""
    adapter.post(a=filled(), b=filled('p2'))
    adapter.request('/allocations/a', 'DELETE')
    adapter.now = DROPPED - 1
    adapter.request('/allocations/a', 'DELETE')
    assert adapter.inventory.used == [{'p1'}] * 2
    adapter.now = DROPPED + 1
    adapter.request('/allocations/a', 'DELETE')
    adapter.request('/allocations/a', 'DELETE')
    assert adapter.inventory.used == [{'p1'}] * 3
    adapter.request('/allocations/b', 'DELETE')
    assert adapter.inventory.used[3:] == [{'p2'}]


def test_a_hold_whose_drop_failed_is_not_forgotten(adapter):
    adapter.post(a=filled())
    adapter.status = 409
    adapter.post(a=emptied())
    adapter.now, adapter.status = 10 * DROPPED, 204
    adapter.post(a=emptied())
    assert adapter.inventory.changed[1:] == [{'p1': change(-1, VCPU=-2)}]


@pytest.mark.parametrize('status', [204, 404, 500])
def test_after_a_deletion_only_the_use_is_read(adapter, status):
    adapter.post(a=filled())
    adapter.status = status
    adapter.request('/allocations/a', 'DELETE')
    assert adapter.inventory.used == [{'p1'}]
    assert adapter.inventory.marked == []


def test_a_dropped_hold_that_is_not_found_causes_no_read(adapter):
    """A claim had taken the first hold. The deletion of its group drops it
    twice, and only the first time shows that the use may have changed."""
    adapter.post(a=filled(), b=filled('p2'))
    adapter.status = 404
    adapter.request('/allocations/a', 'DELETE')
    adapter.request('/allocations/a', 'DELETE')
    assert adapter.inventory.used == [{'p1'}]
    # A response that does not say that nothing was found.
    adapter.status = 500
    adapter.request('/allocations/a', 'DELETE')
    # Another process has written the hold again, and it is deleted here.
    adapter.status = 204
    adapter.request('/allocations/a', 'DELETE')
    assert adapter.inventory.used == [{'p1'}] * 3


def test_what_other_processes_hold_is_not_known(adapter):
    adapter.post(a=emptied())
    adapter.request('/allocations/a', 'DELETE')
    adapter.request('/resource_providers', 'GET')
    seen = adapter.inventory
    assert seen.marked == seen.used == seen.changed == []
