# SPDX-License-Identifier: Apache-2.0
"""Groups of the placement table, with their policies."""

from collections.abc import Iterable

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine import member_rows
from nova_holistic.model.fixed_volumes import with_fixed_volumes
from nova_holistic.model.group import Group
from nova_holistic import policies
from nova_holistic.table.records import GroupRecord, MemberRecord


class GroupParser:
    """Parses the documents of groups in the placement table.

    :ivar policy_types: the types of policies that are installed
    """

    def __init__(self) -> None:
        self.policy_types = policies.load_policy_types()

    def parse(self, record: GroupRecord) -> Group:
        """The group of a record, not bound to a snapshot. Its volumes have
        fixed places: see ``with_fixed_volumes``.

        :raises InvalidDocument: a type of policy is no longer installed
        """
        return with_fixed_volumes(
            parse_group(record.document, self.policy_types))

    def sized(self, record: GroupRecord,
              members: Iterable[MemberRecord]) -> Group:
        """The group of a record with its current members, not bound to a
        snapshot. Members whose number is fixed are all included.

        :param members: all rows of the group
        :raises InvalidDocument: a type of policy is no longer installed
        """
        return self.parse(record).resized(member_rows.current(members))
