# SPDX-License-Identifier: Apache-2.0
"""The servers of the elastic members of a revised group."""

from collections.abc import Collection, Sequence

from nova_holistic.model.elastic.fitted_group import fitted
from nova_holistic.model.group import Group
from nova_holistic.table.changes.claim import OWNED
from nova_holistic.table.changes.member_release import UNCLAIMED
from nova_holistic.table.records import MemberRecord


def sized(revised: Group, members: Sequence[MemberRecord],
          adopted: Collection[str], added: Collection[str]) -> Group:
    """The revised group with its existing and future servers.

    :param members: all rows of the group
    :param adopted: paths of members that become existing servers
    :param added: paths of servers that are planned in addition
    """
    used = {row.member.path for row in members
            if row.state in OWNED or row.instance_uuid}.union(adopted)
    return fitted(
        revised, used, {row.member.path for row in members
                        if row.state in UNCLAIMED} - used, added)
