# SPDX-License-Identifier: Apache-2.0
"""Check that the sides of a relationship are disjoint parts of its group."""

from dataclasses import replace

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.members.member_ranges import (
    member_ranges, with_replicas)


def check_sides(group: Group) -> None:
    """Check the sides of each relationship of the group.

    :raises InvalidDocument: a path that the group does not have, or sides with
        a member in common
    """
    if not group.relationships:
        return
    known = _ranges(with_one_of_each(group))
    for relationship in group.relationships:
        for i, path in enumerate(relationship.between):
            if path not in known:
                raise InvalidDocument(
                    join(relationship.place, 'between', i),
                    f'there is no group or member {brief(path)} in the group')
        first, second = (known[path] for path in relationship.between)
        if first.start < second.stop and second.start < first.stop:
            raise InvalidDocument(
                join(relationship.place, 'between', 1),
                f'{brief(relationship.between[1])} and '
                f'{brief(relationship.between[0])} have members in common')


def _ranges(group: Group) -> dict[str, slice]:
    return with_replicas(member_ranges(group.all_members()), group)


def with_one_of_each(group: Group) -> Group:
    """The group with at least one server of each member whose number may
    change, because it may have one later."""
    return replace(
        group,
        members=tuple(each if each.server_names() else
                      each.at([f'{each.name}-0']) for each in group.members),
        groups=tuple(map(with_one_of_each, (
            *group.groups, *(template.replica(0) for template
                             in group.templates
                             if not any(each.stem == template.name
                                        for each in group.groups))))))
