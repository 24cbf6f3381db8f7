# SPDX-License-Identifier: Apache-2.0
"""Placement on a port: ``python -m tests.services.placement_process PORT
DATABASE_FILE``."""

import sys
from wsgiref import simple_server

from oslo_config import cfg
from placement import conf as options
from placement import db_api, deploy
from placement.db.sqlalchemy import migration
from placement import policy

from nova_holistic.table.kept_connections import keep_sqlite
import tests.fast_sqlite  # noqa: F401
from tests.functional.fast_placement import FastPlacement
from tools import garbage


class Server(simple_server.WSGIServer):
    """A server that handles one request at a time, because SQLite has one
    writer."""

    request_queue_size = 128


class Handler(simple_server.WSGIRequestHandler):
    """Does not log the requests."""

    def log_request(self, *args):
        pass


def main(port, file):
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf.set_override('auth_strategy', 'noauth2', group='api')
    conf.set_override('connection', f'sqlite:///{file}',
                      group='placement_database')
    # The database keeps the writes of all answered requests even if this
    # process is killed.
    conf.set_override('sqlite_synchronous', False,
                      group='placement_database')
    conf([], default_config_files=[])
    db_api.configure(conf)
    migration.upgrade('head')
    # oslo.db would open the file for each transaction.
    keep_sqlite(db_api.get_placement_engine())
    FastPlacement().setUp()
    application = deploy.loadapp(conf)
    # Otherwise every request searches for files of policies.
    policy._ENFORCER.use_conf = False
    server = simple_server.make_server(
        '127.0.0.1', int(port), application, Server, Handler)
    garbage.search_less()
    server.serve_forever()


if __name__ == '__main__':
    main(*sys.argv[1:])
