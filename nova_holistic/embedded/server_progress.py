# SPDX-License-Identifier: Apache-2.0
"""Whether Nova is still at work on a server, at little cost.

A request to the API takes 30 ms of processor time, and in this process the
services have to wait for that long. A caller that waits for a server therefore
reads Nova's databases first, and calls the API only after a change.
"""

from nova.compute import vm_states
from nova.db.api import models as api_models
from nova.db.main import models
import sqlalchemy as sa

UNFINISHED = (vm_states.BUILDING, vm_states.DELETED)
"""States in which a server is for a moment without a task."""


class ServerProgress:
    """The state of servers in Nova's databases.

    :param api: SQLAlchemy engine of the API database
    :param cells: those of the cells' databases
    """

    def __init__(self, api, cells):
        self._api = api
        self._cells = cells

    def is_busy(self, server):
        """Whether a task of Nova's on that server has not ended yet.

        False says little: Nova may not have begun, or the server has failed.
        """
        return self._is_being_scheduled(server) or any(
            state in UNFINISHED
            or task is not None and state != vm_states.ERROR
            for state, task in self._states(server))

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


def _rows(engine, question):
    with engine.connect() as link:
        return link.execute(question).all()
