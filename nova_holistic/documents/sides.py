# SPDX-License-Identifier: Apache-2.0
"""The sides of a relationship are two parts of its group, apart from each
other."""

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group


def check_sides(group: Group) -> None:
    """Look up what each relationship of the group is between.

    :raises InvalidDocument: a path that the group does not have, or sides
        with a member in common
    """
    if not group.relationships:
        return
    spans = _spans(group)
    for relationship in group.relationships:
        for i, path in enumerate(relationship.between):
            if path not in spans:
                raise InvalidDocument(
                    join(relationship.place, 'between', i),
                    f'there is no group or member {brief(path)} in the group')
        first, second = (spans[path] for path in relationship.between)
        if first.start < second.stop and second.start < first.stop:
            raise InvalidDocument(
                join(relationship.place, 'between', 1),
                f'{brief(relationship.between[1])} and '
                f'{brief(relationship.between[0])} have members in common')


def _spans(group: Group) -> dict[str, range]:
    """Each path below the group to the members it means, by number.

    A nested group's members follow one another in document order, and so do
    those of one description.
    """
    spans: dict[str, range] = {}
    for number, member in enumerate(group.all_members()):
        names = member.path.split('/')
        paths = {'/'.join(names[:depth]) for depth in range(1, len(names) + 1)}
        for path in (*paths, member.description):
            start = spans[path].start if path in spans else number
            spans[path] = range(start, number + 1)
    return spans
