# SPDX-License-Identifier: Apache-2.0
"""A federation of three clouds, each with its own real Keystone. The
parent shares the Keystone of the cloud ``ams``."""

from base64 import urlsafe_b64encode
import contextlib
from dataclasses import dataclass
import functools

from keystoneauth1.adapter import Adapter
import pytest
import requests

from tests.functional.federation.world import (
    Cloud, HOSTS, objections, SMALL, TIMEOUT, until)
from tests.services.keystone import KeystoneServer, PASSWORD
from tools.federation.forks import Forks
from tools.federation import processes

HOME, OTHERS = 'ams', ('dfw', 'lon')
KEY = urlsafe_b64encode(b'k' * 32).decode()
VERSION = {'OpenStack-API-Version': 'holistic 1.3'}
SPLIT = {'name': 'trio', 'policies': [
    {'type': 'anti-affinity', 'level': 'cloud'}], 'members': [
        {'name': 'node', 'count': 3, 'resources': SMALL}]}
SINGLE = {'name': 'single', 'members': [
    {'name': 'node', 'resources': SMALL}]}


@dataclass(frozen=True)
class Account:
    """A user and the user's project in one Keystone."""

    keystone: KeystoneServer
    user: str
    project: str

    @classmethod
    def create(cls, keystone, user):
        return cls(keystone, user, keystone.member(f'project-of-{user}', user))

    @functools.cached_property
    def session(self):
        return self.keystone.session(self.user, project_id=self.project)

    @property
    def credentials(self):
        """The application credentials of the user in the API of Keystone."""
        return Adapter(self.session, endpoint_override=(
            f'{self.keystone.url}/users/{self.session.get_user_id()}'
            '/application_credentials'))

    def new_credential(self, name):
        """Create an application credential; returns its ID and its secret."""
        made = self.credentials.post('', json={'application_credential': {
            'name': name}}).json()['application_credential']
        return made['id'], made['secret']

    def ask(self, url, method, path, body=None):
        """Send a request to an API of groups with the token of the user."""
        return requests.request(
            method, f'{url}/v1{path}', json=body, timeout=TIMEOUT, headers={
                'X-Auth-Token': self.session.get_token(), **VERSION})


@dataclass(frozen=True)
class Customer:
    """A user of the parent, with an account in each cloud.

    :ivar accounts: by the names of the clouds
    """

    parent: str
    accounts: dict[str, Account]

    def ask(self, method, path, body=None):
        return self.accounts[HOME].ask(self.parent, method, path, body)

    def register(self, cloud):
        """Register a new credential for a cloud; returns its ID."""
        made, secret = self.accounts[cloud].new_credential('for the parent')
        answer = self.ask('PUT', f'/children/{cloud}/credential', {
            'credential': {'id': made, 'secret': secret}})
        assert answer.status_code == 204, answer.text
        return made

    def create(self, document):
        answer = self.ask('POST', '/groups', {'group': document, 'lease': 600})
        assert answer.status_code == 202, answer.text
        group = answer.json()['group']['id']
        return until(lambda: self.ask(
            'GET', f'/groups/{group}').json()['group'],
            lambda found: found['task'] is None)

    def members(self, group):
        return {each['member']: each for each in self.ask(
            'GET', f'/groups/{group["id"]}/placements').json()['placements']}

    def delete(self, group):
        assert self.ask(
            'DELETE', f'/groups/{group["id"]}').status_code == 204


@pytest.fixture(scope='module')
def keystones(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(KeystoneServer(
            tmp_path_factory.mktemp(f'keystone-{name}')))
            for name in HOSTS}


@pytest.fixture(scope='module')
def clouds(keystones, tmp_path_factory):
    """The clouds by their names. The catalog of each Keystone has its API."""
    with contextlib.ExitStack() as stack:
        cloud_forks = stack.enter_context(Forks(processes.CHILD))
        started = {}
        for name, hosts in HOSTS.items():
            started[name] = processes.start_child(
                hosts, tmp_path_factory.mktemp(name), cloud_forks.start, {
                    'auth_url': keystones[name].url, 'password': PASSWORD})
            stack.callback(started[name].stop)
        for name, process in started.items():
            process.wait_until_ready()
            keystones[name].create(
                'endpoint', interface='public', region_id='RegionOne',
                url=process.url, service_id=keystones[name].create(
                    'service', type='holistic', name='holistic'))
        yield {name: Cloud(name, process)
               for name, process in started.items()}


@pytest.fixture(scope='module')
def forks():
    with Forks(processes.PARENT) as forks:
        yield forks


@pytest.fixture
def parent(clouds, forks, keystones, tmp_path):
    """The URL of the parent, which finds the APIs in the catalogs."""
    process = processes.start_parent_of(
        [{'name': HOME, 'region': 'RegionOne'},
         *({'name': name, 'keystone': keystones[name].url}
           for name in OTHERS)], tmp_path,
        {'keys': [KEY], 'options': {'refresh_interval': 0.0}, 'keystone': {
            'auth_url': keystones[HOME].url, 'password': PASSWORD}},
        start=forks.start)
    try:
        process.wait_until_ready()
        yield process.url
    finally:
        process.stop()


@pytest.fixture
def customer(parent, keystones, clouds, request):
    """A customer without registered credentials. The clouds are empty before
    and after the test."""
    name = request.node.name.replace('test_', '')[:40]
    customer = Customer(parent, {
        cloud: Account.create(keystone, f'{name}-{cloud}')
        for cloud, keystone in keystones.items()})
    yield customer
    for cloud, account in customer.accounts.items():
        clouds[cloud].delete_servers(account.project)
        report = until(lambda cloud=clouds[cloud]: cloud.report(),
                       lambda found: not found['used'])
        assert (report['used'], report['differences']) == (0, [])


def test_without_credentials_only_the_home_cloud_is_used(customer, clouds):
    group = customer.create(SINGLE)
    assert [each['cloud'] for each in customer.members(group).values()] == [
        HOME]
    customer.delete(group)
    refused = customer.create(SPLIT)
    assert refused['status'] == 'unplaceable'
    for name in OTHERS:
        assert (f'cloud {name}: register an application credential for this '
                'cloud') in str(refused['reasons'])
    customer.delete(refused)


def test_each_part_belongs_to_the_project_of_its_cloud(customer, clouds):
    for name in OTHERS:
        customer.register(name)
    group = customer.create(SPLIT)
    assert group['status'] == 'planned', group
    members = customer.members(group)
    assert {each['cloud'] for each in members.values()} == set(HOSTS)
    hosts = {}
    for path, each in members.items():
        cloud, pointer = each['cloud'], each['pointer']
        account = customer.accounts[cloud]
        shown = account.ask(clouds[cloud].url, 'GET',
                            f'/groups/{pointer["holistic_group"]}')
        assert shown.json()['group']['project_id'] == account.project
        _, host = clouds[cloud].create_server(pointer, account.project)
        hosts[path] = cloud, host
        report = clouds[cloud].report(account.project)
        assert (report['held'], report['differences']) == ([], [])
    assert not objections(SPLIT, hosts)
    customer.delete(group)


def test_a_token_is_valid_in_its_own_cloud_only(customer, clouds):
    for name, account in customer.accounts.items():
        assert {each: account.ask(
            clouds[each].url, 'GET', '/groups').status_code
            for each in clouds} == {
                each: 200 if each == name else 401 for each in clouds}
    # The parent has the Keystone of the home cloud.
    assert {name: account.ask(
        customer.parent, 'GET', '/groups').status_code
        for name, account in customer.accounts.items()} == {
            name: 200 if name == HOME else 401 for name in clouds}


def test_a_deleted_credential_of_keystone_ends_the_access(customer, clouds):
    made = {name: customer.register(name) for name in OTHERS}
    group = customer.create(SPLIT)
    assert group['status'] == 'planned', group
    customer.delete(group)
    customer.accounts['lon'].credentials.delete(f'/{made["lon"]}')
    refused = customer.create(SPLIT)
    assert refused['status'] != 'planned'
    assert 'cloud lon' in str(refused['reasons'])
    customer.delete(refused)
    # The other clouds remain usable.
    two = {**SPLIT, 'members': [{**SPLIT['members'][0], 'count': 2}]}
    group = customer.create(two)
    assert {each['cloud'] for each in customer.members(group).values()} == {
        HOME, 'dfw'}
    customer.delete(group)


def test_another_user_has_no_part_in_a_credential(
        customer, keystones, clouds):
    for name in OTHERS:
        customer.register(name)
    group = customer.create(SPLIT)
    other = Customer(customer.parent, {
        HOME: Account.create(keystones[HOME], 'eve')})
    assert other.ask('GET', f'/groups/{group["id"]}').status_code == 404
    assert other.create(SPLIT)['status'] == 'unplaceable'
    customer.delete(group)
