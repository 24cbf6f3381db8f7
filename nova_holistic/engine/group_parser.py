# SPDX-License-Identifier: Apache-2.0
"""Groups of the placement table, with their policies."""

from nova_holistic.documents.group import parse_group
from nova_holistic.model.group import Group
from nova_holistic import policies
from nova_holistic.table.records import GroupRecord


class GroupParser:
    """
    :ivar policy_types: the types of policies that are installed
    """

    def __init__(self) -> None:
        self.policy_types = policies.load_policy_types()

    def parse(self, record: GroupRecord) -> Group:
        """The group of a record, not bound to a snapshot.

        :raises InvalidDocument: a type of policy is no longer installed
        """
        return parse_group(record.document, self.policy_types)
