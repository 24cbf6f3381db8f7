# SPDX-License-Identifier: Apache-2.0
"""Cinder's API, scheduler and three volume services in this process."""

# Before anything that starts threads: this selects eventlet.
from cinder.tests.functional import functional_helpers

import os
import sys

from cinder import context
from cinder import service
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
import pytest

from tests.cinder.pool_driver import BACKENDS
from tools.cloud.waiting import wait_for

API = '3.70'


class Cinder(functional_helpers._FunctionalTestBase):
    """
    :ivar url: of the API
    :ivar token: of an administrator
    """

    _osapi_version = API

    def runTest(self):
        """Cinder's fixtures are those of a test."""

    def _get_flags(self):
        return {
            **super()._get_flags(),
            # Services of these fixtures send no heartbeats.
            'service_down_time': {'v': 24 * 3600},
            'volume_driver': {'v': 'tests.cinder.pool_driver.PoolDriver',
                              'g': 'backend_defaults'}}

    def start_service(self, name, host=None, **kwargs):
        if name != 'volume':
            return super().start_service(name, host, **kwargs)
        self.volumes = [super(Cinder, self).start_service(name, host, **kwargs)
                        for host in BACKENDS]
        return self.volumes[0]

    def _start_api_service(self):
        # The wheel installs the file here.
        functional_helpers.CONF.api_paste_config = os.path.join(
            sys.prefix, 'etc/cinder/api-paste.ini')
        self.osapi = service.WSGIService('osapi_volume')
        self.osapi.start()
        self.auth_url = f'http://{self.osapi.host}:{self.osapi.port}/v3'

    @property
    def url(self):
        return self.api._authenticate()['x-server-management-url']

    @property
    def token(self):
        return self.api._authenticate()['x-auth-token']

    def adapter(self):
        return Adapter(Session(Token(self.url, self.token)),
                       service_type='block-storage')

    def report(self):
        """The services report their capacity, as they do every minute."""
        for each in self.volumes:
            each.manager.publish_service_capabilities(
                context.get_admin_context())

    def create(self, size, **keys):
        """A volume, when Cinder has ended its work on it."""
        volume = self.api.post_volume({'volume': {'size': size, **keys}})
        return self.wait_for(volume['id'], ('available', 'error'))

    def wait_for(self, volume_id, states):
        def volume():
            found = self.api.get_volume(volume_id)
            return found if found['status'] in states else None

        return wait_for(f'{volume_id} is {states}', volume, pause=0.05)

    def delete(self, volume_id):
        self.api.delete_volume(volume_id)
        wait_for(f'{volume_id} is deleted', lambda: volume_id not in {
            v['id'] for v in self.api.get_volumes()}, pause=0.05)

    def volume_type(self, name, **extra_specs):
        created = self.api.api_post(
            '/types', {'volume_type': {'name': name}})['volume_type']
        if extra_specs:
            self.api.api_post(f'/types/{created["id"]}/extra_specs',
                              {'extra_specs': extra_specs})


@pytest.fixture(scope='session', autouse=True)
def base_folder(tmp_path_factory):
    """The folder of all ``tmp_path``. It must exist before Cinder's fixtures
    replace the folder of temporary files and delete theirs at the end."""
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope='module')
def cinder():
    found = Cinder()
    found.setUp()
    found.volume_type('fast', media='flash')
    found.volume_type('cheap', media='<or> disk <or> tape')
    found.report()
    yield found
    found.doCleanups()
