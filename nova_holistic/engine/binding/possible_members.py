# SPDX-License-Identifier: Apache-2.0
"""Members that a group may have later, because their number may change."""

from collections.abc import Sequence

from nova_holistic.documents.groups.bounds import has_bounds
from nova_holistic.documents.groups.relationship_sides import (
    with_one_of_each)
from nova_holistic.documents.groups.without_policies import (
    parse_without_policies)
from nova_holistic.model.members.member import Member
from nova_holistic.table.records import GroupRecord


def possible_members(record: GroupRecord) -> Sequence[Member]:
    """The desired members of a group, and at least one of each member and
    each nested group whose number may change. Such a member may have no row
    yet: the first create that points at it adds the row.

    :returns: nothing if no number may change
    """
    document = record.document.get('group', record.document)
    if not has_bounds(document):
        return ()
    return with_one_of_each(parse_without_policies(document)).all_members()
