# SPDX-License-Identifier: Apache-2.0
"""Keystone on a port: ``python -m tests.services.keystone_process PORT
CONFIGURATION_FOLDER PASSWORD``.

First it creates the tables and keys.
"""

import grp
import json
import os
import pwd
import sys
from wsgiref import simple_server

import tests.fast_sqlite  # noqa: F401
from tests.services.placement_process import Handler, Server
from tools.cloud import manage
from tools import garbage


def prepare(file, password, url):
    """Create tables, keys, and the user ``admin`` with an endpoint in
    RegionOne."""
    own = ('--keystone-user', pwd.getpwuid(os.geteuid()).pw_name,
           '--keystone-group', grp.getgrgid(os.getegid()).gr_name)
    failed = manage.main('keystone.cmd.manage:main', json.dumps([
        ('--config-file', file, *command) for command in (
            ('db_sync',), ('fernet_setup', *own),
            ('bootstrap', '--bootstrap-password', password,
             '--bootstrap-region-id', 'RegionOne',
             '--bootstrap-public-url', url,
             '--bootstrap-internal-url', url))]))
    if failed:
        sys.exit(failed)


def main(port, directory, password):
    file = os.path.join(directory, 'keystone.conf')
    prepare(file, password, f'http://127.0.0.1:{port}/v3')
    os.environ['OS_KEYSTONE_CONFIG_FILES'] = file
    # Keystone would parse these arguments.
    del sys.argv[1:]
    # The import comes last, because Keystone reads its configuration then.
    from keystone.server import wsgi
    server = simple_server.make_server(
        '127.0.0.1', int(port), wsgi.initialize_public_application(), Server,
        Handler)
    garbage.search_less()
    server.serve_forever()


if __name__ == '__main__':
    main(*sys.argv[1:4])
