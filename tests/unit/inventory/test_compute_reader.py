# SPDX-License-Identifier: Apache-2.0
"""Every change of a compute node is detected, and few nodes are read."""

from collections import Counter
import random
from types import SimpleNamespace
from urllib import parse

import pytest

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.nova.compute_reader import ComputeReader, MAX_AGE
from nova_holistic.inventory.nova.hypervisors import read_hypervisors
from nova_holistic.inventory.resource_providers.provider_source import Listed
from nova_holistic.inventory.service_client import ServiceClient


class Nova:
    """An adapter to a Nova whose services and nodes a test changes.

    :ivar services: ID of the service of each host; None in an unreachable cell
    :ivar nodes: host and type of each node by UUID
    :ivar hidden: hosts that are not mapped to their cell yet
    :ivar asked: number of requests of each kind
    """

    status_code = 200

    def __init__(self, *hosts):
        self.services = {host: f'service of {host}' for host in hosts}
        self.nodes = {f'uuid-{host}': (host, 'QEMU') for host in hosts}
        self.hidden = set()
        self.down = set()
        self.asked = Counter()

    def get(self, path, **options):
        answer = Nova.__new__(Nova)
        answer.json = lambda: found
        kind, _, rest = path.strip('/').partition('/')
        kind = kind.partition('?')[0]
        self.asked['detail' if rest.startswith('detail') else kind] += 1
        if kind == 'os-services':
            found = {'services': [self._service(host) for host
                                  in self.services]}
        elif None in self.services.values() and self._needs_all_cells(rest):
            answer.status_code, answer.text = 500, 'unexpected API error'
        elif rest.startswith('detail'):
            query = dict(parse.parse_qsl(rest.partition('?')[2]))
            if query.get('marker', rest) not in (rest, *self.nodes):
                answer.status_code, answer.text = 400, 'no such marker'
            found = {'hypervisors': [*map(self._node, self._page(query))]}
        elif self._is_shown(rest):
            found = {'hypervisor': self._node(rest)}
        else:
            answer.status_code = 404
        return answer

    def _needs_all_cells(self, rest):
        """Whether Nova reads a cell that does not answer: it lists all cells,
        and searches one after the other for a node."""
        host, _ = self.nodes.get(rest, (None, None))
        unreachable = [name for name, service in self.services.items()
                       if service is None]
        return not self._is_shown(rest) or host >= unreachable[0]

    def _page(self, query):
        """As Nova, which leaves out nodes after it has read a page."""
        uuids = list(self.nodes)
        first = (uuids.index(query['marker']) + 1
                 if query.get('marker') in uuids else 0)
        return filter(self._is_shown, uuids[
            first:first + int(query['limit'])])

    def _is_shown(self, uuid):
        host, _ = self.nodes.get(uuid, (None, None))
        return host in self.services and host not in self.hidden

    def _service(self, host):
        if self.services[host] is None:
            return {'binary': 'nova-compute', 'host': host,
                    'status': 'UNKNOWN'}
        return {'host': host, 'id': self.services[host], **self._state(host)}

    def _state(self, host):
        return {'state': 'down' if host in self.down else 'up',
                'status': 'enabled'}

    def _node(self, uuid):
        host, kind = self.nodes[uuid]
        return {'id': uuid, 'hypervisor_hostname': f'node of {uuid}',
                'service': {'host': host, 'id': self.services[host]},
                'hypervisor_type': kind, 'hypervisor_version': 7,
                **self._state(host)}


class Cloud:
    """Nova, providers, and a reader that has read them once.

    :ivar providers: names by UUID
    """

    def __init__(self, *hosts):
        self.nova = Nova(*hosts)
        self.providers = {f'uuid-{host}': host for host in hosts}
        self.now = 0.0
        self._reader = ComputeReader(
            ServiceClient('nova', self.nova), timer=lambda: self.now)
        self.read()

    def read(self):
        """Each compute node by its name."""
        self.nova.asked.clear()
        found = self._reader.read({
            uuid: Listed(name, 1, True)
            for uuid, name in self.providers.items()})
        return {each.name: each for each in found}

    @property
    def reread(self):
        """The number of nodes that the last call read one by one."""
        return self.nova.asked['os-hypervisors']

    def as_before(self):
        """The result of a new reader."""
        fresh = ComputeReader(ServiceClient('nova', self.nova))
        return {each.name: each for each in fresh.read({})}


@pytest.fixture
def cloud():
    return Cloud('a', 'b', 'c')


def test_nothing_is_read_again_if_nothing_changed(cloud):
    assert set(cloud.read()) == {'a', 'b', 'c'}
    assert cloud.nova.asked == {'os-services': 1}


def test_a_service_that_goes_down_is_noticed_without_its_node(cloud):
    cloud.nova.down.add('b')
    assert [each.enabled for each in cloud.read().values()] == [
        True, False, True]
    assert cloud.reread == 0


def test_a_new_host_is_read_alone(cloud):
    cloud.nova.services['d'] = 'service of d'
    cloud.nova.nodes['uuid-d'] = 'd', 'QEMU'
    cloud.providers['uuid-d'] = 'd'
    assert cloud.read() == cloud.as_before()
    assert 'd' in cloud.read()
    assert cloud.reread == 0


def test_a_host_that_is_mapped_later_is_noticed(cloud):
    cloud.nova.services['d'] = 'service of d'
    cloud.nova.nodes['uuid-d'] = 'd', 'QEMU'
    cloud.nova.hidden.add('d')
    cloud.providers['uuid-d'] = 'd'
    assert 'd' not in cloud.read()
    cloud.nova.hidden.clear()
    assert 'd' in cloud.read()


def test_a_deleted_host_is_noticed(cloud):
    del cloud.nova.services['b']
    assert set(cloud.read()) == {'a', 'c'}
    del cloud.nova.nodes['uuid-b'], cloud.providers['uuid-b']
    assert set(cloud.read()) == {'a', 'c'}
    cloud.read()
    assert cloud.nova.asked == {'os-services': 1}


def test_a_node_whose_provider_is_gone_is_read_once(cloud):
    del cloud.providers['uuid-b']
    assert cloud.read() == cloud.as_before()
    cloud.read()
    assert cloud.reread == 0
    del cloud.nova.nodes['uuid-b']
    cloud.providers['uuid-b'] = 'b'
    assert set(cloud.read()) == {'a', 'c'}


def test_a_renamed_host_is_noticed(cloud):
    cloud.nova.services['new'] = cloud.nova.services.pop('b')
    cloud.nova.nodes['uuid-b'] = 'new', 'QEMU'
    assert set(cloud.read()) == {'a', 'c', 'new'}
    assert cloud.reread == 1


def test_a_service_that_was_created_again_is_noticed(cloud):
    cloud.nova.services['b'] = 'another service'
    cloud.nova.nodes['uuid-b'] = 'b', 'kvm'
    assert cloud.read()['b'].hypervisor == ('kvm', 7)
    assert cloud.reread == 1
    cloud.read()
    assert cloud.reread == 0


def test_a_second_node_of_a_service_is_noticed(cloud):
    cloud.nova.nodes['uuid-2'] = 'b', 'QEMU'
    cloud.providers['uuid-2'] = 'b-2'
    found = cloud.read()
    assert {each.uuid for each in found.values() if not each.enabled} == {
        'uuid-b', 'uuid-2'}
    assert found == cloud.as_before()


def test_a_node_of_ironic_that_moves_to_another_service_is_noticed():
    cloud = Cloud('a', 'b')
    for host in ('a', 'b'):
        cloud.nova.nodes[f'uuid-{host}'] = host, 'ironic'
    cloud.now += MAX_AGE
    assert cloud.read()['a'].enabled
    cloud.nova.nodes['uuid-b'] = 'a', 'ironic'
    assert not any(each.enabled for each in cloud.read().values())


def test_a_provider_that_is_no_node_is_read_once(cloud):
    cloud.providers['uuid-disks'] = 'disks'
    assert set(cloud.read()) == {'a', 'b', 'c'}
    assert cloud.reread == 1
    cloud.read()
    assert cloud.reread == 0


def test_every_hypervisor_is_read_again_in_the_course_of_an_hour():
    cloud = Cloud('a', 'b', 'c', 'd')
    for host in 'abcd':
        cloud.nova.nodes[f'uuid-{host}'] = host, 'kvm'
    found = []
    for _ in range(4):
        cloud.now += MAX_AGE / 4
        found.append(sum(each.hypervisor[0] == 'kvm'
                         for each in cloud.read().values()))
    assert found == [1, 2, 3, 4]


def test_hypervisors_that_only_grow_older_are_read_in_pages():
    cloud = Cloud(*(f'h{number}' for number in range(40)))
    requests = Counter()
    for _ in range(12):
        cloud.now += MAX_AGE / 4
        cloud.read()
        requests += cloud.nova.asked
    assert requests == {'os-services': 12, 'detail': 12}


@pytest.mark.parametrize('deleted', [0, 1, 3])
def test_a_node_that_only_nova_has_deleted_is_noticed_in_two_hours(deleted):
    cloud = Cloud('a', 'b', 'c', 'd')
    cloud.now += MAX_AGE / 2
    cloud.read()
    # The list continues after the second node, which may be the deleted one.
    del cloud.nova.nodes[f'uuid-{"abcd"[deleted]}']
    for _ in range(8):
        cloud.now += MAX_AGE / 4
        cloud.read()
    assert cloud.read() == cloud.as_before()
    assert len(cloud.read()) == 3


def test_hidden_nodes_do_not_keep_others_from_being_read_again():
    cloud = Cloud('a', 'b', 'c', 'd', 'e', 'f')
    for host in 'bcdef':
        cloud.nova.nodes[f'uuid-{host}'] = host, 'kvm'
    # Nova leaves them out of the pages that they are in.
    cloud.nova.hidden |= {'c', 'd'}
    for _ in range(12):
        cloud.now += MAX_AGE / 6
        found = cloud.read()
    assert {name for name, each in found.items()
            if each.hypervisor[0] == 'kvm'} == {'b', 'e', 'f'}


def test_a_list_that_cannot_be_read_is_an_error_and_loses_no_host():
    cloud = Cloud('a', 'b')
    cloud.nova.hidden = None
    cloud.now += MAX_AGE
    with pytest.raises(ServiceFailed, match='detail'):
        cloud.read()
    cloud.nova.hidden = set()
    assert set(cloud.read()) == {'a', 'b'}


def enabled(found):
    return {name for name, each in found.items() if each.enabled}


def test_hosts_of_a_cell_that_does_not_answer_are_disabled(cloud, caplog):
    known, cloud.nova.services['b'] = cloud.nova.services['b'], None
    found = cloud.read()
    assert (set(found), enabled(found)) == ({'a', 'b', 'c'}, {'a', 'c'})
    cloud.now += MAX_AGE
    cloud.read()
    assert cloud.nova.asked == {'os-services': 1}
    (record,) = caplog.records
    assert '1 compute services' in record.getMessage()
    cloud.nova.services['b'] = known
    assert enabled(cloud.read()) == {'a', 'b', 'c'}


def test_other_changes_are_noticed_while_a_cell_does_not_answer(cloud):
    """Nova cannot search the cells after an unavailable cell."""
    known, cloud.nova.services['b'] = cloud.nova.services['b'], None
    cloud.nova.down.add('c')
    for host in 'aaa', 'd':
        cloud.nova.services[host] = f'service of {host}'
        cloud.nova.nodes[f'uuid-{host}'] = host, 'QEMU'
        cloud.providers[f'uuid-{host}'] = host
    found = cloud.read()
    assert (set(found), enabled(found)) == (
        {'a', 'aaa', 'b', 'c'}, {'a', 'aaa'})
    cloud.nova.services['b'] = known
    assert enabled(cloud.read()) == {'a', 'aaa', 'b', 'd'}


def test_a_reader_cannot_begin_while_a_cell_does_not_answer(cloud):
    cloud.nova.services['b'] = None
    with pytest.raises(ServiceFailed, match='os-hypervisors/detail'):
        ComputeReader(ServiceClient('nova', cloud.nova)).read({})


def test_many_new_hosts_are_read_in_the_list(cloud):
    for host in 'defgh':
        cloud.nova.services[host] = f'service of {host}'
        cloud.nova.nodes[f'uuid-{host}'] = host, 'QEMU'
        cloud.providers[f'uuid-{host}'] = host
    assert len(cloud.read()) == 8
    assert cloud.nova.asked == {'os-services': 1, 'detail': 2}


class PagedNova:
    """An adapter to a Nova with many hypervisors.

    :ivar listed: numbers of the hypervisors in the pages that were read
    :ivar missing: UUIDs that are in the list but not accepted as markers
    """

    def __init__(self, uuids):
        self.uuids = uuids
        self.listed = []
        self.missing = set()

    def get(self, path, **options):
        path, _, query = path.partition('?')
        if path != '/os-hypervisors/detail':
            uuid = path.rpartition('/')[2]
            return self._answer(
                {'hypervisor': self._node(uuid)} if uuid in self.uuids
                else None)
        query = dict(parse.parse_qsl(query))
        marker = query.get('marker')
        if marker in self.missing:
            return self._answer(None)
        first = self.uuids.index(marker) + 1 if marker else 0
        page = self.uuids[first:first + int(query['limit'])]
        self.listed.append(len(page))
        return self._answer({'hypervisors': [*map(self._node, page)]})

    def _answer(self, body):
        return SimpleNamespace(
            status_code=200 if body else 404, json=lambda: body, text='')

    def _node(self, uuid):
        return {'id': uuid, 'hypervisor_hostname': uuid,
                'service': {'host': uuid, 'id': uuid}, 'state': 'up',
                'status': 'enabled'}


@pytest.mark.parametrize('order', ['same', 'reversed', 'random'])
def test_sections_of_a_long_list_contain_every_hypervisor(order):
    nova = PagedNova([f'u{number}' for number in range(4500)])
    uuids = nova.uuids + ['no node']
    if order == 'reversed':
        uuids = uuids[::-1]
    elif order == 'random':
        random.Random(1).shuffle(uuids)
    found = read_hypervisors(ServiceClient('nova', nova), uuids, threads=8)
    assert sorted(found) == sorted(nova.uuids)
    if order == 'same':
        # No hypervisor is read twice, except those of the page in which a
        # section ends.
        assert sum(nova.listed) < 4500 + 4 * 10
        assert max(nova.listed) <= 1000


def test_a_list_is_read_in_one_section_if_a_section_cannot_begin():
    nova = PagedNova([f'u{number}' for number in range(2500)])
    nova.missing.add('u1249')
    found = read_hypervisors(ServiceClient('nova', nova), nova.uuids,
                             threads=8)
    assert sorted(found) == sorted(nova.uuids)
    assert nova.listed[-4:] == [1000, 1000, 500, 0]


def test_a_short_list_is_read_in_one_section():
    nova = PagedNova([f'u{number}' for number in range(1500)])
    found = read_hypervisors(ServiceClient('nova', nova), nova.uuids,
                             threads=8)
    assert (len(found), nova.listed) == (1500, [1000, 500, 0])
