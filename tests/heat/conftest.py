# SPDX-License-Identifier: Apache-2.0
"""Heat's own engine, without a cloud to ask."""

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


class _Anything(constraints.BaseCustomConstraint):
    """Whatever only a cloud could tell, such as whether an image exists."""

    def validate(self, value, context):
        return True


class Heat:
    """Makes stacks of templates, as heat-engine does before it creates any."""

    def __init__(self):
        self._context = context.RequestContext(
            username='tester', project_id='c0ffee', user_id='c0ffee')

    def stack(self, text, parameters):
        """A stack whose every resource Heat found valid."""
        return self._valid(template.Template(
            template_format.parse(text),
            env=environment.Environment({'parameters': parameters})))

    def inside(self, group):
        """The stack that an OS::Heat::ResourceGroup makes."""
        return self._valid(group.child_template())

    def _valid(self, parsed):
        made = stack.Stack(self._context, 'shop', parsed)
        made.validate(validate_res_tmpl_only=True)
        return made


@pytest.fixture(scope='session')
def _plugins():
    cfg.CONF([], project='heat', default_config_files=[])
    messaging.setup('fake://', optional=True)
    resources.initialise()
    known = resources.global_env()
    for name in known.constraints:
        known.register_constraint(name, _Anything)


@pytest.fixture
def heat(_plugins, monkeypatch):
    # Asks Keystone's catalogue whether the service is there.
    monkeypatch.setattr(resource.Resource, 'is_service_available',
                        classmethod(lambda cls, context: (True, None)))
    return Heat()
