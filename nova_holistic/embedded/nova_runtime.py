# SPDX-License-Identifier: Apache-2.0
"""Sets up the global state of Nova for one cloud, and resets it afterwards.

This does the same as ``nova.test.TestCase.setUp``, with the same fixtures, but
as a fixture for any caller.
"""

import copy
import importlib.metadata

import fixtures
from nova.api.openstack import wsgi_app
from nova.compute import api as compute_api
from nova.compute import rpcapi as compute_rpcapi
import nova.conf
from nova import context, crypto, objects, quota, service_auth
from nova.db.api import api as api_database
from nova.db.main import api as main_database
import nova.limit.utils
from nova.objects import base as objects_base
from nova.scheduler.client import report
from nova.scheduler import utils as scheduler_utils
from nova.tests import fixtures as nova_fixtures
from oslo_utils.fixture import uuidsentinel
from oslo_versionedobjects import base as versioned_objects

from nova_holistic import conf as holistic_conf
from nova_holistic.embedded.cell_databases import RetryingCellDatabases
from nova_holistic.embedded.server_progress import ServerProgress

KEPT_CONNECTIONS = {'connection_recycle_time': -1}
"""Options of databases in memory. They exist as long as their connections,
which oslo.db replaces after an hour otherwise."""
CELL = 'cell1'

_obj_attr_is_set = versioned_objects.VersionedObject.obj_attr_is_set


def _attr_is_set(self, name):
    """Answer as ``obj_attr_is_set`` of an object does, without a list of all
    fields. The lists take one thirtieth of the processor time of a cloud."""
    if name in self.fields:
        return hasattr(self, versioned_objects._get_attrname(name))
    return _obj_attr_is_set(self, name)


def api_paste_config():
    """Path of the api-paste.ini of the installed Nova.

    :raises FileNotFoundError: the installed Nova has no such file
    """
    for path in importlib.metadata.files('nova') or ():
        if path.match('etc/nova/api-paste.ini'):
            return str(path.locate().resolve())
    raise FileNotFoundError('the installed nova has no etc/nova/api-paste.ini')


class NovaRuntime(fixtures.Fixture):
    """Configuration, databases, cells and a message bus, all in memory.

    :ivar directory: folder for the state and the lock files of Nova
    :ivar conf: Nova's CONF; the fixture restores its options at the end
    :ivar cells: CellMapping by name
    :ivar images: Nova's fake of Glance
    :ivar volumes: Nova's fake of Cinder
    :ivar progress: ServerProgress, which shows whether Nova works on a server
    """

    def __init__(self, directory):
        super().__init__()
        self.directory = directory
        self.conf = nova.conf.CONF
        self.cells = {}
        self.progress = None
        self.images = None
        self.volumes = None

    def id(self):
        """Name for the threads of this process, which Nova's fixtures need."""
        return 'nova-holistic-embedded'

    def flags(self, group=None, **options):
        """Override options of a group until the fixture ends."""
        self.useFixture(nova_fixtures.ConfPatcher(group=group, **options))

    def stub_out(self, name, replacement):
        """Replace an attribute until the fixture ends."""
        self.useFixture(fixtures.MonkeyPatch(name, replacement))

    def _setUp(self):
        self.useFixture(nova_fixtures.OpenStackSDKFixture())
        self.useFixture(nova_fixtures.IsolatedExecutorFixture(self.id()))
        self.useFixture(nova_fixtures.ConfFixture(self.conf))
        self._set_options()
        self.useFixture(nova_fixtures.RPCFixture('nova.test'))
        self._reset_globals()
        self.addCleanup(self._reset_globals)
        self._keep_object_registry()
        # MonkeyPatch would wrap the function in another one.
        self.addCleanup(setattr, versioned_objects.VersionedObject,
                        'obj_attr_is_set', _obj_attr_is_set)
        versioned_objects.VersionedObject.obj_attr_is_set = _attr_is_set
        self.useFixture(nova_fixtures.Database(database='api'))
        self._create_cells()
        self.useFixture(nova_fixtures.RealPolicyFixture())
        self.useFixture(nova_fixtures.PrivsepNoHelperFixture())
        self.useFixture(nova_fixtures.ComputeNodeIdFixture())
        self.useFixture(nova_fixtures.GreenThreadPoolShutdownWait())
        self.useFixture(nova_fixtures.AllServicesCurrent())
        self.images = self.useFixture(nova_fixtures.GlanceFixture(self))
        self.volumes = self.useFixture(nova_fixtures.CinderFixture(self))
        self.useFixture(nova_fixtures.NeutronFixture(self))

    def _set_options(self):
        self.flags(state_path=self.directory)
        for group in 'database', 'api_database':
            self.flags(group=group, **KEPT_CONNECTIONS)
        self.flags(group='wsgi', api_paste_config=api_paste_config())
        self.flags(group='oslo_concurrency', lock_path=self.directory)
        # Otherwise Nova validates its responses against its schemas.
        self.flags(group='api', response_validation='ignore')
        self.flags(group='notifications', notification_format='unversioned')
        # Services write heartbeats only while the thread of the caller waits,
        # and this thread may compute for a long time. With these values, Nova
        # does not consider a service down because of a late heartbeat.
        self.flags(report_interval=3600, service_down_time=86400)
        self.stub_out('nova.servicegroup.api.INITIAL_REPORTING_DELAY', 3600)
        # A compute reports its resources when run_periodics is called, and
        # not at random times.
        self.flags(periodic_enable=False)
        # Therefore, creates compare the hosts in the scheduler's memory.
        holistic_conf.register_opts(self.conf)
        self.flags(group='holistic', host_refresh_interval=0)
        self.flags(group='quota', instances=-1, cores=-1, ram=-1,
                   server_groups=-1, server_group_members=-1)

    def _keep_object_registry(self):
        registry = objects_base.NovaObjectRegistry._registry
        classes = copy.copy(registry._obj_classes)
        self.addCleanup(setattr, registry, '_obj_classes', classes)

    @staticmethod
    def _reset_globals():
        """Reset the caches of Nova's modules, which refer to an earlier cloud.
        """
        objects_base.NovaObject.indirection_api = None
        objects.Service.clear_min_version_cache()
        compute_api.CELLS = []
        # From Nova 33 on, nova.context has a function that does this.
        context.CELL_CACHE = {}
        context.CELLS = []
        compute_rpcapi.reset_globals()
        quota.UID_QFD_POPULATED_CACHE_BY_PROJECT = set()
        quota.UID_QFD_POPULATED_CACHE_ALL = False
        wsgi_app.init_global_data.reset()
        wsgi_app.init_application.reset()
        report.PLACEMENTCLIENT = None
        scheduler_utils.reset_globals()
        crypto._KEYMGR = None
        nova.limit.utils.IDENTITY_CLIENT = None
        service_auth.reset_globals()

    def _create_cells(self):
        databases = RetryingCellDatabases()
        cell0 = objects.CellMapping.CELL0_UUID
        for name, uuid in (('cell0', cell0), (CELL, uuidsentinel.cell1)):
            mapping = objects.CellMapping(
                context=context.get_context(), uuid=uuid, name=name,
                transport_url='fake://nowhere/', database_connection=uuid)
            mapping.create()
            self.cells[name] = mapping
            databases.add_cell_database(uuid, default=name == CELL)
        self.useFixture(databases)
        self.progress = ServerProgress(api_database.get_engine(), [
            main_database.create_context_manager(
                mapping.database_connection).writer.get_engine()
            for mapping in self.cells.values()])
