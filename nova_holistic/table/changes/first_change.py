# SPDX-License-Identifier: Apache-2.0
"""What the first transaction of a release checks and changes in its group."""

from typing import NamedTuple

from nova_holistic.table.changes import transitions
from nova_holistic.table.group_reasons import ChangedReasons
from nova_holistic.table.history.events import Transaction


class FirstChange(NamedTuple):
    """
    :ivar revision: required revision of the group; None means any
    :ivar reasons: new reasons of the group; None keeps them
    """

    group_uuid: str
    revision: int | None = None
    reasons: ChangedReasons | None = None

    def apply(self, session: Transaction) -> bool:
        """Lock the group, if its revision is required, and change it.

        :returns: False if it has another revision or does not exist; nothing
            is changed
        """
        if not transitions.lock_revision(
                session, self.group_uuid, self.revision):
            return False
        if self.reasons is not None:
            transitions.change_group(
                session, self.group_uuid, [], {'reasons': self.reasons})
        return True
