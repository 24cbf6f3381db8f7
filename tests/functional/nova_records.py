# SPDX-License-Identifier: Apache-2.0
"""Writes Nova's records of servers without Nova, and counts the rows of
statements."""

import contextlib
from datetime import datetime

from nova import context as nova_context
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from tests.functional.call_counts import wait_until_quiet

LONG_AGO = datetime(2020, 1, 1)


def forget_servers(cloud):
    """Remove the records of all servers."""
    with in_nova(cloud) as (api, cell):
        api.execute(sa.delete(api_models.InstanceMapping))
        cell.execute(sa.delete(models.Migration))
        cell.execute(sa.delete(models.Instance))


@contextlib.contextmanager
def in_nova(cloud, mapping=None):
    """Sessions of Nova's API database and of a cell.

    :param mapping: CellMapping; None for the cell of the hosts
    """
    admin = nova_context.get_admin_context()
    with nova_context.target_cell(
            admin, mapping or cloud.computes.cell) as target, \
            api_database.context_manager.writer.using(admin) as api, \
            main_database.get_context_manager(target).writer.using(
                target) as cell:
        yield api, cell


def exist(cloud, rows, **values):
    """Write Nova's records of the servers of these rows, on their hosts and
    with an old date of change."""
    with in_nova(cloud) as (api, cell):
        number = api.scalar(sa.select(api_models.CellMapping.id).where(
            api_models.CellMapping.uuid == cloud.computes.cell.uuid))
        api.execute(sa.insert(api_models.InstanceMapping), [
            {'instance_uuid': row.instance_uuid, 'cell_id': number,
             'project_id': PROJECT, 'user_id': USER} for row in rows])
        cell.execute(sa.insert(models.Instance), [
            {'uuid': row.instance_uuid, 'project_id': PROJECT,
             'user_id': USER, 'host': row.place.host, 'vm_state': 'active',
             'updated_at': LONG_AGO, 'deleted': 0, **values}
            for row in rows])


def write_server(cloud, row, updated_at=None, **values):
    """Change the record of a server, as Nova does."""
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.update(models.Instance).where(
            models.Instance.uuid == row.instance_uuid).values(
                updated_at=updated_at or timeutils.utcnow(), **values))


def number_of_rows(engine, text, parameters):
    with engine.connect() as link:
        return len(link.exec_driver_sql(text, parameters).all())


def cost(work, tables):
    """Each statement of a piece of work that reads one of the tables, with the
    number of rows that it finds.

    :param tables: parts of the texts of statements, for example ``FROM
        instances``
    """
    wait_until_quiet()
    sent = []

    def listen(connection, _cursor, text, parameters, *_):
        if text.startswith('SELECT'):
            sent.append((connection.engine, text, parameters))

    sa.event.listen(sa.Engine, 'before_cursor_execute', listen)
    try:
        work()
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', listen)
    return [(' '.join(text.split()[:3]), number_of_rows(
        engine, text, parameters)) for engine, text, parameters in sent
        if any(table in text for table in tables)]
