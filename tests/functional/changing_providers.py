# SPDX-License-Identifier: Apache-2.0
"""Providers in a real Placement, and random changes of them."""

import uuid

from hypothesis import strategies as st
import pytest

from nova_holistic.inventory.resource_providers.providers import ProviderReader
from nova_holistic.inventory.service_client import ServiceClient
from tests.functional.placement_service import PlacementService
from tests.functional.watched_inventory import Counting

VERSION = '1.38'
PLAIN = {'VCPU': {'total': 8}, 'MEMORY_MB': {'total': 64}}
BOTH = PLAIN | {'PCPU': {'total': 8}}
ODD = {'VCPU': {'total': 8, 'min_unit': 3, 'step_size': 2},
       'MEMORY_MB': {'total': 64, 'reserved': 64}}
METAL = {'CUSTOM_METAL': {'total': 1}}


class Interrupted(Counting):
    """Calls a function just before a request for one part of a provider."""

    def __init__(self, adapter):
        super().__init__(adapter)
        self.before = {}

    def get(self, path, **options):
        self.before.pop(path.rsplit('/', 1)[-1], lambda: None)()
        return super().get(path, **options)


@pytest.fixture(name='placement')
def metal_placement():
    """A Placement with a resource class for bare-metal nodes."""
    with PlacementService() as service:
        service.adapter.put('/resource_classes/CUSTOM_METAL',
                            microversion=VERSION)
        yield service


class Providers:
    """Providers in Placement, and a reader of them all."""

    def __init__(self, placement):
        self.service = placement
        self._adapter = Interrupted(placement.adapter)
        self.before = self._adapter.before
        self.uuids = []
        self.reader = self.fresh()

    def fresh(self):
        """A new reader, which has not read anything."""
        return ProviderReader(ServiceClient('placement', self._adapter), 1)

    def read(self, counted=True):
        self._adapter.requests.clear()
        return dict(self.reader.read(self.uuids, counted=counted))

    def anew(self):
        """The providers as a new reader reads them."""
        return dict(self.fresh().read(self.uuids))

    def one_by_one(self):
        """The providers, each read with separate requests and without the
        lists of usages."""
        return dict(self.fresh().reread(self.uuids))

    @property
    def requests(self):
        """The number of requests by their kind."""
        return self._adapter.requests

    @property
    def lists(self):
        """Requests of the last read that are not for one provider."""
        return sum(number for name, number in self._adapter.requests.items()
                   if not name.startswith('one/'))

    @property
    def parts(self):
        """Requests of the last read for one provider."""
        return self._adapter.requests.total() - self.lists

    def add(self, inventories, one=None):
        """Create a provider; returns its UUID.

        :param one: its UUID; None means a new one
        """
        one = one or str(uuid.uuid4())
        self._put('post', '/resource_providers', {'name': one, 'uuid': one})
        self.uuids.append(one)
        self.offer(one, inventories)
        return one

    def offer(self, one, inventories):
        return self._put('put', f'/resource_providers/{one}/inventories', {
            'resource_provider_generation': self._generation(one),
            'inventories': inventories})

    def give_traits(self, one, traits):
        self._put('put', f'/resource_providers/{one}/traits', {
            'resource_provider_generation': self._generation(one),
            'traits': traits})

    def allocate(self, resources):
        """Allocate resources to a new consumer. Returns the consumer, or None
        if Placement refuses the request.

        :param resources: amounts by resource class, by provider
        """
        consumer = str(uuid.uuid4())
        return consumer if self.reallocate(consumer, resources) else None

    def reallocate(self, consumer, resources):
        generation = self.service.allocation(consumer).get(
            'consumer_generation')
        return self._put('put', f'/allocations/{consumer}', {
            'allocations': {one: {'resources': amounts}
                            for one, amounts in resources.items()},
            'project_id': 'p', 'user_id': 'u', 'consumer_type': 'INSTANCE',
            'consumer_generation': generation}).status_code == 204

    def free(self, consumer):
        self.service.adapter.delete(f'/allocations/{consumer}')

    def _generation(self, one):
        return self.service.adapter.get(
            f'/resource_providers/{one}',
            microversion=VERSION).json()['generation']

    def _put(self, method, path, body):
        return getattr(self.service.adapter, method)(
            path, json=body, microversion=VERSION, raise_exc=False)


def step(draw, providers, consumers):
    """Make a random change of a provider or of its consumers."""
    one = draw(st.sampled_from(providers.uuids))
    what = draw(st.sampled_from(
        ['allocate', 'allocate', 'free', 'free', 'move', 'offer', 'traits']))
    if what == 'offer':
        providers.offer(one, draw(st.sampled_from([PLAIN, BOTH, ODD])))
    elif what == 'traits':
        providers.give_traits(one, draw(st.sampled_from(
            [[], ['HW_CPU_X86_AVX']])))
    elif what == 'allocate' or not consumers:
        consumers.append(providers.allocate({one: draw(amounts())}))
    elif what == 'free':
        providers.free(consumers.pop(draw(
            st.integers(0, len(consumers) - 1))))
    else:
        providers.reallocate(draw(st.sampled_from(consumers)),
                             {one: draw(amounts())})
    consumers[:] = [each for each in consumers if each]


def amounts():
    return st.sampled_from([
        {'VCPU': 8}, {'VCPU': 4}, {'VCPU': 1}, {'MEMORY_MB': 64},
        {'VCPU': 4, 'MEMORY_MB': 32}, {'PCPU': 8}, {'CUSTOM_METAL': 1}])
