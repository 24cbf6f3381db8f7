# SPDX-License-Identifier: Apache-2.0
"""Actions that the servers of a group require, in the order in which engines
carry them out.

Only the engine that owns the task of the group writes them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.model.action import Action, ActionKind, ActionState
from nova_holistic.table.database import Database, retried
from nova_holistic.table.schema.action_model import ActionRow
from nova_holistic.table.schema.models import GroupRow


class Actions:
    """The actions of groups. Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    @retried
    def replace(self, group_uuid: str, engine: str,
                actions: Sequence[Action]) -> bool:
        """Replace the actions of a group.

        :returns: False if the engine does not own the group's task; nothing is
            changed
        """
        with self._database.writer() as session:
            if not _owned(session, group_uuid, engine):
                return False
            session.execute(
                sa.delete(ActionRow).where(ActionRow.group_uuid == group_uuid)
                .execution_options(synchronize_session=False))
            if actions:
                session.execute(sa.insert(ActionRow), [
                    _values(group_uuid, position, action)
                    for position, action in enumerate(actions)])
        return True

    @retried
    def change(self, group_uuid: str, engine: str, position: int,
               state: ActionState,
               reasons: Sequence[Mapping[str, object]] | None = None) -> bool:
        """Change the state of one action.

        :param position: position of the action in the group
        :param reasons: new reasons; None keeps them
        :returns: False if the engine does not own the group's task
        """
        values: dict[str, Any] = {'state': str(state)}
        if reasons is not None:
            values['reasons'] = [dict(reason) for reason in reasons]
        with self._database.writer() as session:
            if not _owned(session, group_uuid, engine):
                return False
            session.execute(
                sa.update(ActionRow).where(
                    ActionRow.group_uuid == group_uuid,
                    ActionRow.position == position).values(values)
                .execution_options(synchronize_session=False))
        return True

    def of_group(self, group_uuid: str) -> Sequence[Action]:
        """The actions of a group in the order of their positions."""
        with self._database.reader() as session:
            return tuple(map(_action, session.scalars(
                sa.select(ActionRow).where(
                    ActionRow.group_uuid == group_uuid)
                .order_by(ActionRow.position))))

    def destination(self, instance_uuid: str) -> str | None:
        """The host to which an engine is moving a server now; None if no
        engine is moving it."""
        with self._database.reader() as session:
            return session.scalar(
                sa.select(ActionRow.to_host)
                .join(GroupRow, GroupRow.uuid == ActionRow.group_uuid)
                .where(ActionRow.instance_uuid == instance_uuid,
                       ActionRow.state == ActionState.STARTED,
                       GroupRow.task.is_not(None)).limit(1))


def _owned(session: orm.Session, group_uuid: str, engine: str) -> bool:
    """Lock the group's row until the end of the transaction.

    :returns: whether the engine owns the task of the group
    """
    return bool(session.execute(
        sa.update(GroupRow)
        .where(GroupRow.uuid == group_uuid, GroupRow.engine == engine)
        .values(engine=GroupRow.engine)
        .execution_options(synchronize_session=False)).rowcount)


def _values(group_uuid: str, position: int, action: Action) -> dict[str, Any]:
    return {
        'group_uuid': group_uuid, 'position': position,
        'member': action.member, 'instance_uuid': action.instance_uuid,
        'kind': str(action.kind), 'state': str(action.state),
        'from_host': action.from_host, 'to_host': action.to_host,
        'from_flavor': action.from_flavor, 'to_flavor': action.to_flavor,
        'reasons': [dict(reason) for reason in action.reasons]}


def _action(row: ActionRow) -> Action:
    return Action(
        row.member, row.instance_uuid, ActionKind(row.kind),
        ActionState(row.state), row.from_host, row.to_host, row.from_flavor,
        row.to_flavor, tuple(row.reasons))
