# SPDX-License-Identifier: Apache-2.0
"""The process of a parent.

Usage: ``python -m tools.federation.parent OPTIONS``. OPTIONS is a JSON object
with the keys ``port``, ``folder`` for the table, ``options`` of [federation],
``keys`` that encrypt credentials, and ``keystone`` (see ``with_tokens``).
"""

import json
import sys

from oslo_config import cfg
from oslo_policy import opts as policy_opts

from nova_holistic.api.app import make_app
from nova_holistic.cli.components import federation_components
from nova_holistic import conf as project_options, objectives, policies
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table import migration
from nova_holistic.table.store import PlacementTable
from tools.federation.http_server import serve
from tools.federation.identity import parts, with_tokens


def preload():
    """Prepare what the forks of this process share."""
    policies.load_policy_types()
    objectives.load_objective('spread')
    # Only tests have forks of a parent.
    from tests.compiled_table import compile_statements
    compile_statements()


def main():
    options = json.loads(sys.argv[1])
    conf = cfg.ConfigOpts()
    project_options.register_opts(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    policy_opts.set_defaults(conf, policy_file='none.yaml')
    for name, value in options['options'].items():
        conf.set_override(name, value, group='federation')
    conf.set_override('max_waiters', 32, group='holistic_api')
    conf.set_override('encryption_keys', options.get('keys', []), group='boot')
    connection = f'sqlite:///{options["folder"]}/table.sqlite'
    migration.upgrade(connection)
    table = PlacementTable(connection)
    clock = DatabaseClock(table.database)
    parent = federation_components.federation(conf, table, clock)
    keystone = options.get('keystone')
    serve(with_tokens(make_app(conf, table, parent.engines, clock, parts(
        keystone, federation=parent.engines,
        credentials=parent.registrations)), keystone), options.get('port', 0))


if __name__ == '__main__':
    main()
