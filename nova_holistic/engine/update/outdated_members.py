# SPDX-License-Identifier: Apache-2.0
"""Whether the place of a member was planned for its current definition.

An update may change the definition of a member that has a server. Its row
keeps the requirements with which the server was created, until an action has
changed the server.
"""

from collections.abc import Iterable

from nova_holistic.model.group import Group
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.records import MemberRecord


def is_outdated(row: MemberRecord, group: Group) -> bool:
    """Whether the definition of the member has changed since its place was
    planned.

    :param group: the group as its document describes it
    :returns: False also if the group does not have the member
    """
    path = row.member.path
    return any(member.path == path and not is_up_to_date(
        row, member.requirements)
        for member in group.resized({path}).all_members())


def is_any_outdated(rows: Iterable[MemberRecord], group: Group) -> bool:
    """Whether the definition of any of these members has changed."""
    kinds = {row.member.requirements: row for row in rows}
    return any(is_outdated(row, group) for row in kinds.values())


def is_up_to_date(row: MemberRecord, required: Requirements) -> bool:
    """Whether a place was planned for these requirements.

    :param required: requirements of the definition, whose flavor is not
        resolved. The row also has the traits of the flavor
    """
    found = row.member.requirements
    return (found.flavor, found.availability_zone, found.aggregates,
            found.location) == (
                required.flavor, required.availability_zone,
                required.aggregates, required.location) and (
                    required.required_traits <= found.required_traits
                    and required.forbidden_traits <= found.forbidden_traits)
