# SPDX-License-Identifier: Apache-2.0
"""Credentials of the operator of a parent in a child with a real Keystone."""

import json
import uuid

from keystoneauth1.adapter import Adapter
from oslo_config import cfg
import pytest

from nova_holistic.cli.components import federation_components
from nova_holistic.cli import manage
from nova_holistic.client.client import Client
from nova_holistic import conf as project_options
from nova_holistic.federation import children_file
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.http.traffic import HttpLimits
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.federation.clouds import NOON
from tools.cloud import catalog
from tools.cloud.layout import REGION
from tools.cloud.waiting import wait_for


@pytest.fixture
def files(cloud, tmp_path):
    """The file of children with this cloud, and the file of credentials."""
    children = tmp_path / 'children.yaml'
    children.write_text(json.dumps({'children': [
        {'name': 'home', 'region': REGION}]}))
    return children, tmp_path / 'credentials.yaml'


@pytest.fixture
def write_credential(cloud, files):
    """A function that creates an application credential of a user with one
    role, and writes it to the file of credentials."""
    def write(user, role):
        session = catalog.session(cloud.layout, user)
        keystone = Adapter(session, endpoint_override=cloud.layout.identity)
        wanted = {'name': str(uuid.uuid4()), 'roles': [{'name': role}]}
        made = keystone.post(
            f'/users/{session.get_user_id()}/application_credentials',
            json={'application_credential': wanted},
        ).json()['application_credential']
        files[1].write_text(json.dumps({'credentials': {'home': {
            'auth_type': 'v3applicationcredential', 'auth': {
                'auth_url': cloud.layout.identity,
                'application_credential_id': made['id'],
                'application_credential_secret': made['secret']}}}}))

    return write


@pytest.fixture
def facts(files):
    """A function that reads the facts of the child with the credential in the
    file."""
    def facts():
        conf = cfg.ConfigOpts()
        project_options.register_opts(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        conf.set_override('fact_credentials', str(files[1]), 'federation')
        known = federation_components.known_facts(conf, UserChildren(
            children_file.read(str(files[0])), HttpLimits(), None,
            lambda: NOON), lambda: NOON)
        return wait_for('the facts', lambda: known.all().get('home'))

    return facts


def test_facts_are_read_with_an_application_credential(
        cloud, facts, write_credential):
    write_credential(catalog.ADMIN, 'admin')
    found = facts()
    assert found.zones
    assert 'COMPUTE_NODE' in found.traits
    assert isinstance(found.aggregates, frozenset)
    assert set(found.largest) == {'VCPU', 'MEMORY_MB'}
    assert min(found.largest.values()) > 0
    assert 0 <= found.share_in_use < 1


def test_facts_that_a_reader_may_not_see_are_unknown(
        cloud, facts, write_credential):
    write_credential(catalog.READER, 'reader')
    found = facts()
    assert found.zones
    assert (found.aggregates, found.largest, found.share_in_use) == (
        None, None, None)


def test_a_reader_recovers_the_groups_of_its_project(
        cloud, demo, files, write_credential, tmp_path, capsys):
    lost = str(uuid.uuid4())
    client = Client(demo)
    group = client.groups.wait(client.groups.create(
        {'name': 'ours', 'members': [{'name': 'node', 'flavor': 'tiny'}]},
        lease=3600, idempotency_key=f'parent-{lost}-0a1b2c-1.1-home')['id'])
    assert group['status'] == 'planned'
    write_credential(catalog.READER, 'reader')
    config = tmp_path / 'parent.conf'
    connection = new_table(tmp_path)
    config.write_text(f'[holistic_database]\nconnection = {connection}\n'
                      f'[federation]\nchildren = {files[0]}\n')
    assert manage.main([
        '--config-file', str(config), 'federation', 'recover',
        '--credentials', str(files[1]), '--format', 'json']) == 0
    (outcome,) = json.loads(capsys.readouterr().out)
    assert (outcome['group'], outcome['result']) == (lost, 'recovered')
    table = PlacementTable(connection)
    found = table.get_group(lost)
    assert (found.project_id, found.user_id) == (
        group['project_id'], group['user_id'])
    (part,) = table.parts.of_group(lost)
    assert (part.child, part.child_group) == ('home', group['id'])
