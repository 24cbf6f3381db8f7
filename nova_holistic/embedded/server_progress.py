# SPDX-License-Identifier: Apache-2.0
"""Reads from Nova's databases whether Nova still works on a server.

A request to the API takes 30 ms of processor time, and the services in this
process must wait for it. A caller that waits for a server therefore reads
Nova's databases first, and calls the API only when Nova no longer works on the
server.
"""

from nova.compute import vm_states
from nova.db.api import models as api_models
from nova.db.main import models
import sqlalchemy as sa

UNFINISHED = (vm_states.BUILDING, vm_states.DELETED)
"""States in which a server may have no task for a moment, although Nova still
works on it."""


class ServerProgress:
    """The state of servers in Nova's databases.

    :param api: SQLAlchemy engine of the API database
    :param cells: SQLAlchemy engines of the databases of the cells
    """

    def __init__(self, api, cells):
        self._api = api
        self._cells = cells

    def is_busy(self, server):
        """Whether Nova has an unfinished task for the server.

        If False, Nova may not have begun the task yet, or the server may have
        failed.
        """
        return self._is_being_scheduled(server) or any(
            _is_unfinished(state, task)
            for state, task in self._states(server))

    def is_any_busy(self):
        """Whether Nova has an unfinished task for any server that was
        scheduled."""
        question = sa.select(
            models.Instance.vm_state, models.Instance.task_state).where(
                models.Instance.deleted == 0)
        return any(_is_unfinished(state, task)
                   for engine in self._cells
                   for state, task in _rows(engine, question))

    def _is_being_scheduled(self, server):
        return bool(_rows(self._api, sa.select(
            api_models.BuildRequest.id).where(
                api_models.BuildRequest.instance_uuid == server)))

    def _states(self, server):
        question = sa.select(
            models.Instance.vm_state, models.Instance.task_state).where(
                models.Instance.uuid == server, models.Instance.deleted == 0)
        for engine in self._cells:
            yield from _rows(engine, question)


def _is_unfinished(state, task):
    return state in UNFINISHED or (
        task is not None and state != vm_states.ERROR)


def _rows(engine, question):
    with engine.connect() as link:
        return link.execute(question).all()
