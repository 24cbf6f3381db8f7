# SPDX-License-Identifier: Apache-2.0
"""The sides of a relationship are two parts of its group, apart from each
other."""

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.member_ranges import member_ranges


def check_sides(group: Group) -> None:
    """Look up what each relationship of the group is between.

    :raises InvalidDocument: a path that the group does not have, or sides
        with a member in common
    """
    if not group.relationships:
        return
    known = member_ranges(group.all_members())
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
