# SPDX-License-Identifier: Apache-2.0
"""The engine of Heat without a cloud, and a heat-engine next to a cloud of
processes."""

import os
import pathlib
import tempfile

from heat.common import context
from heat.common import messaging
from heat.common import template_format
from heat.engine import constraints
from heat.engine import environment
from heat.engine import resource
from heat.engine import resources
from heat.engine import stack
from heat.engine import template
from oslo_config import cfg
import pytest

from nova_holistic.client.client import Client
from tests.cloud.conftest import clear, RUNNING
from tests.cloud.groups import broken, LiveGroup
from tests.cloud.servers import Servers
from tests.cloud.usage_accounts import expected, UsageAccounts
from tests.heat.placements import hosts_by_id, members, the_group
from tests.heat.stacks import Stacks
from tools.cloud import catalog
from tools.cloud.cloud import Cloud, make
from tools.cloud.layout import Layout

HOSTS = 8
"""Number of hosts: one rack of five hosts, and one of three."""


class _Anything(constraints.BaseCustomConstraint):
    """Accepts all values that only a cloud can validate, such as the name of
    an image."""

    def validate(self, value, context):
        return True


class Heat:
    """Parses the stacks of templates, as heat-engine does before it creates
    them."""

    def __init__(self):
        self.context = context.RequestContext(
            username='tester', project_id='c0ffee', user_id='c0ffee')

    def stack(self, text, parameters, files=None, types=None):
        """A stack whose resources Heat has validated.

        :param types: the registry of its environment
        """
        return self._valid(self._template(text, parameters, files, types))

    def unvalidated(self, text, files, types):
        """A stack with all its resources."""
        loaded = stack.Stack(self.context, 'shop', self._template(
            text, {}, files, types))
        assert loaded.resources
        return loaded

    @staticmethod
    def _template(text, parameters, files, types):
        return template.Template(
            template_format.parse(text), files=files or {},
            env=environment.Environment({
                'parameters': parameters, 'resource_registry': types or {}}))

    def inside(self, group):
        """The stack that an OS::Heat::ResourceGroup creates."""
        return self._valid(group.child_template())

    def _valid(self, parsed):
        validated = stack.Stack(self.context, 'shop', parsed)
        validated.validate(validate_res_tmpl_only=True)
        return validated


@pytest.fixture(scope='session')
def _plugins():
    cfg.CONF([], project='heat', default_config_files=[])
    messaging.setup('fake://', optional=True)
    resources.initialise()
    registry = resources.global_env()
    for name in registry.constraints:
        registry.register_constraint(name, _Anything)


@pytest.fixture
def heat(_plugins, monkeypatch):
    # The original reads the catalog of Keystone.
    monkeypatch.setattr(resource.Resource, 'is_service_available',
                        classmethod(lambda cls, context: (True, None)))
    return Heat()


@pytest.fixture(scope='session')
def running(request):
    """The cloud, until the last test has ended. Its directory is kept if it
    did not start or a test failed."""
    if RUNNING in os.environ:
        yield Cloud(Layout.read(pathlib.Path(os.environ[RUNNING])))
        return
    cloud = make(pathlib.Path(tempfile.mkdtemp(prefix='heat-')), HOSTS,
                 heat=True, rare_searches=True)
    print('cloud:', cloud.layout.directory)
    try:
        cloud.up()
        yield cloud
    finally:
        for name in cloud.processes.names():
            cloud.processes.kill(name)
    if not request.session.testsfailed:
        cloud.remove()


@pytest.fixture
def demo(running):
    """The session of an ordinary user. The objects of earlier tests are
    deleted."""
    session = catalog.session(running.layout, catalog.MEMBER)
    Stacks(session).clear()
    clear(running.layout)
    return session


@pytest.fixture(scope='module', params=('convergence', 'legacy'))
def engine(running, request):
    """The kind of engine that heat-engine uses for new stacks."""
    heat = running.services['heat']
    if request.param == 'legacy':
        heat.restart_engine(convergence_engine='false')
    yield request.param
    if request.param == 'legacy':
        heat.restart_engine()


@pytest.fixture
def stacks(demo):
    return Stacks(demo)


@pytest.fixture
def groups(demo):
    return Client(demo).groups


@pytest.fixture
def nova(demo, running):
    """The servers of all projects as an administrator sees them, with their
    hosts."""
    return Servers(catalog.session(running.layout, catalog.ADMIN),
                   everybody=True)


@pytest.fixture
def rack_of(running):
    """A function that returns the number of the rack of a host."""
    names = running.layout.host_names()
    return lambda host: names.index(host) // running.layout.rack


@pytest.fixture
def verify(running, groups, nova):
    """A function that compares the servers with the policies of the group and
    with the usages in Placement."""
    accounts = UsageAccounts(catalog.session(running.layout, catalog.ADMIN))

    def verify():
        assert accounts.used() == expected(nova.all(), [])
        hosts = hosts_by_id(nova)
        definition = groups.get(the_group(groups))['definition']
        assert not broken(definition, accounts.snapshot(), {
            path: hosts[uuid] for path, uuid in members(groups).items()})

    return verify


@pytest.fixture
def plan(demo, groups):
    """A function that creates a group and waits for its plan."""
    def plan(document):
        planned = groups.wait(groups.create(document)['id'])
        assert planned['status'] == 'planned', planned['reasons']
        return LiveGroup(Client(demo), planned)

    return plan
