# SPDX-License-Identifier: Apache-2.0
"""Clouds and parents in other processes, over HTTP."""

import time

import requests

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check
from tests.unit.builders import cloud as snapshot_of, host
from tests.unit.federation.clouds import joined

USER, PROJECT = 'ann', 'blue'
HOSTS = {
    'ams': [('ams-1', 'a', 8), ('ams-2', 'b', 8)],
    'dfw': [('dfw-1', 'a', 8), ('dfw-2', 'b', 8)],
    'lon': [('lon-1', 'a', 4)]}
"""Hosts of each cloud: name, rack, VCPUs."""
SMALL = {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1}
"""Resources of the flavor of the clouds."""
TIMEOUT = 300
HEADERS = {'X-Auth-Token': f'{USER}:{PROJECT}',
           'OpenStack-API-Version': 'holistic 1.3'}


class Cloud:
    """A child, and the requests to it outside of the group API."""

    def __init__(self, name, process):
        self.name = name
        self.url = process.url

    def create_server(self, pointer, project=PROJECT):
        """Create a server with the pointer; returns its UUID and its host."""
        found = self._control('create', {
            'name': pointer['holistic_member'].replace('/', '-'),
            'group': pointer['holistic_group'],
            'member': pointer['holistic_member'], 'project': project})
        return found['id'], found['host']

    def reconcile(self):
        self._control('reconcile', {})

    def report(self, project=PROJECT):
        return self._control('report', {'project': project})

    def delete_servers(self, project=PROJECT):
        self._control('delete', {'project': project})

    def delete_groups(self):
        """Delete what killed parents have left: groups whose leases have
        expired. They hold nothing."""
        groups = f'{self.url}/v1/groups'
        answer = requests.get(groups, headers=HEADERS, timeout=TIMEOUT)
        answer.raise_for_status()
        for group in answer.json()['groups']:
            requests.delete(f'{groups}/{group["id"]}', headers=HEADERS,
                            timeout=TIMEOUT).raise_for_status()
        until(lambda: self.report()['groups'], lambda found: found == [])

    def settled_report(self):
        """A report without differences. Because a change may be in progress,
        the report is repeated for at most 10 seconds."""
        return until(self.report, lambda found: not found['differences'], 10)

    def _control(self, name, body):
        answer = requests.post(f'{self.url}/control/{name}', json=body,
                               timeout=TIMEOUT)
        answer.raise_for_status()
        return answer.json()


class Parent:
    """A parent, as its user sees it."""

    def __init__(self, process):
        self.process = process

    def ask(self, method, path, body=None):
        return requests.request(
            method, self.process.url + '/v1' + path, json=body,
            headers=HEADERS, timeout=TIMEOUT)

    def begin(self, document):
        """Request a group; returns its UUID."""
        answer = self.ask('POST', '/groups', {'group': document,
                                              'lease': 600})
        assert answer.status_code == 202, answer.text
        return answer.json()['group']['id']

    def create(self, document):
        return self.settled(self.begin(document))

    def settled(self, group):
        return until(lambda: self.get(group),
                     lambda found: found['task'] is None)

    def get(self, group):
        answer = self.ask('GET', f'/groups/{group}')
        assert answer.status_code == 200, answer.text
        return answer.json()['group']

    def members(self, group):
        """The placements by the paths of their members."""
        return {each['member']: each for each in self.ask(
            'GET', f'/groups/{group}/placements').json()['placements']}

    def begin_update(self, group, document):
        """Request an update of the group."""
        answer = requests.put(
            f'{self.process.url}/v1/groups/{group}', json={'group': document},
            headers={**HEADERS, 'If-Match':
                     f'"{self.get(group)["revision"]}"'}, timeout=TIMEOUT)
        assert answer.status_code == 202, answer.text

    def update(self, group, document):
        """The group after an update."""
        self.begin_update(group, document)
        return self.settled(group)

    def delete(self, group):
        answer = self.ask('DELETE', f'/groups/{group}')
        assert answer.status_code == 204, answer.text


def until(read, done, seconds=TIMEOUT):
    """The first result that is done, or the last result if none is done in
    time. The longer the wait, the longer are the pauses: otherwise, the
    requests of many clients would take most of the processor time."""
    begin = time.monotonic()
    while True:
        found = read()
        waited = time.monotonic() - begin
        if done(found) or waited > seconds:
            return found
        time.sleep(min(1, max(0.1, waited / 8)))


def objections(document, hosts):
    """The violations that the independent checker finds.

    :param hosts: cloud and host of each server, as Nova reports it, by the
        path of its member
    """
    snapshots = {name: snapshot_of(*(_host(*each) for each in each_hosts))
                 for name, each_hosts in HOSTS.items()}
    return check(parse_group(document, load_policy_types()),
                 joined(snapshots), {path: f'{name}-{each}'
                                     for path, (name, each) in hosts.items()})


def _host(name, rack, vcpus):
    return host(name, rack, inventories={
        'VCPU': Inventory(total=vcpus),
        'MEMORY_MB': Inventory(total=65536),
        'DISK_GB': Inventory(total=1000)})
