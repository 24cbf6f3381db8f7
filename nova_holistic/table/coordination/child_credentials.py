# SPDX-License-Identifier: Apache-2.0
"""Application credentials that users have registered for children.

The table stores them encrypted, and this module does not decrypt them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table.schema.federation_models import ChildCredentialRow


class ChildCredentials:
    """One credential for each user, project and child. Every method is one
    short transaction, except that ``put`` may use two."""

    def __init__(self, database: Database):
        self._database = database

    def put(self, user_id: str, project_id: str, child: str, encrypted: str,
            now: datetime) -> None:
        """Write a credential, and replace an earlier one.

        :raises Duplicate: other requests insert and delete the credential at
            the same time, and this one is not written
        """
        # Another request may insert the row at the same time.
        for is_last in (False, True):
            try:
                self._write(user_id, project_id, child, encrypted, now)
                return
            except Duplicate:
                if is_last:
                    raise

    def get(self, user_id: str, project_id: str, child: str) -> str | None:
        """The encrypted credential; None if none is registered."""
        with self._database.reader() as session:
            return session.scalar(
                sa.select(ChildCredentialRow.credential).where(
                    *_of(user_id, project_id, child)))

    def of_user(self, user_id: str,
                project_id: str) -> Mapping[str, datetime]:
        """Names of the children for which the user has registered a
        credential, with the time of the registration."""
        with self._database.reader() as session:
            return {child: at for child, at in session.execute(
                sa.select(ChildCredentialRow.child,
                          ChildCredentialRow.updated_at).where(
                    ChildCredentialRow.user_id == user_id,
                    ChildCredentialRow.project_id == project_id))}

    @retried
    def delete(self, user_id: str, project_id: str, child: str) -> bool:
        """Delete a credential.

        :returns: whether a credential was registered
        """
        with self._database.writer() as session:
            return session.execute(sa.delete(ChildCredentialRow).where(
                *_of(user_id, project_id, child))).rowcount > 0

    @retried
    def _write(self, user_id: str, project_id: str, child: str,
               encrypted: str, now: datetime) -> None:
        values = {'credential': encrypted, 'updated_at': now}
        with self._database.writer() as session:
            if not session.execute(
                    sa.update(ChildCredentialRow)
                    .where(*_of(user_id, project_id, child)).values(values)
                    .execution_options(synchronize_session=False)).rowcount:
                session.execute(sa.insert(ChildCredentialRow).values(
                    user_id=user_id, project_id=project_id, child=child,
                    **values))


def _of(user_id: str, project_id: str, child: str) -> list[Any]:
    return [ChildCredentialRow.user_id == user_id,
            ChildCredentialRow.project_id == project_id,
            ChildCredentialRow.child == child]
