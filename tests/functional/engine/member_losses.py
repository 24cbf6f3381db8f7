# SPDX-License-Identifier: Apache-2.0
"""Members that lose their places."""

from nova_holistic.table.records import MemberState


def place(world, group, path):
    return next(m.place.host for m in world.table.members(group.uuid)
                if m.member.path == path)


def lose(world, group, path):
    """Drop the hold of a planned member, and mark the member as lost. Returns
    its former row."""
    row = next(m for m in world.table.members(group.uuid)
               if m.member.path == path)
    world.holds.drop([row.hold])
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.now, held=False)
    return row
