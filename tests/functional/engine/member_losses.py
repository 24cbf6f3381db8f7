# SPDX-License-Identifier: Apache-2.0
"""Members that lose their places."""

from nova_holistic.table.records import MemberState


def place(world, group, path):
    return next(m.place.host for m in world.table.members(group.uuid)
                if m.member.path == path)


def lose(world, group, path):
    """Give a member's hold and capacity to another consumer."""
    row = next(m for m in world.table.members(group.uuid)
               if m.member.path == path)
    world.holds.drop([row.hold])
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.now, held=False)
    return row
