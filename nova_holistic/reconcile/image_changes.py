# SPDX-License-Identifier: Apache-2.0
"""Servers that must be rebuilt, because an update has changed the image of
their members.

A rebuild erases the root disk. Therefore a server with another image than its
member is rebuilt only if an update has changed the image: a user may have
chosen another image when the server was created. The task of the update names
the members. After the update, the list of actions names them until their
servers are rebuilt.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.action import Action, ActionKind, ActionState
from nova_holistic.model.group import Group
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.repair.required_actions import RequiredActions
from nova_holistic.repair.server_changes import ServerChange, ServerStatus
from nova_holistic.table.records import GroupRecord

KEY = 'rebuilt'
"""Parameter of a task: paths of the members whose image the update changes."""

REBUILDABLE = ('ACTIVE', 'SHUTOFF', 'ERROR')
"""Statuses of servers that Nova rebuilds."""


def named(record: GroupRecord, before: Collection[Action]) -> frozenset[str]:
    """Paths of members whose servers may have to be rebuilt.

    :param before: the current actions of the group
    """
    return frozenset((record.pending or {}).get(KEY, ())).union(
        action.member for action in before if action.kind == ActionKind.REBUILD
        and action.state != ActionState.DONE)


def images(inventory: CloudInventory, project_id: str, group: Group,
           paths: Collection[str]) -> Mapping[str, str]:
    """The UUID of the image of each member, by path. If no such image exists,
    its name is returned, which Nova refuses.

    :param group: the group with all members, not bound to a snapshot
    :param paths: paths of the members
    :raises HolisticError: the images cannot be read
    """
    wanted = {member.path: member.requirements.image
              for member in group.all_members() if member.path in paths}
    found = {name: inventory.image(name, project_id)
             for name in set(wanted.values()) if isinstance(name, str)}
    return {path: (image.id if (image := found[name]) else '') or name
            for path, name in wanted.items() if isinstance(name, str)}


def with_rebuilds(found: RequiredActions, wanted: Mapping[str, str],
                  servers: Mapping[str, ServerStatus]) -> RequiredActions:
    """The actions, with the rebuilds that servers require. They follow the
    moves.

    :param wanted: UUIDs of images by path
    :param servers: servers in Nova by path
    """
    needed = {path: image for path, image in wanted.items()
              if path in found.changes and path in servers
              and not _has(servers[path], image)}
    if not needed:
        return found
    moves = [action for action in found.actions
             if action.state == ActionState.REQUIRED]
    hosts = {action.member: action.to_host for action in moves}
    rebuilds = [_action(found.changes[path], image, servers[path],
                        hosts.get(path)) for path, image in needed.items()]
    return replace(found, images=needed, actions=(
        *moves, *_in(rebuilds, ActionState.REQUIRED), *(
            action for action in found.actions if action not in moves
            and (action.kind != ActionKind.NOTHING
                 or action.member not in needed)),
        *_in(rebuilds, ActionState.BLOCKED)))


def _has(server: ServerStatus, image: str) -> bool:
    """Whether a server has an image. Nova shows the new image before it has
    rebuilt the server, so a server in ERROR may still have the old one."""
    return server.image == image and server.status != 'ERROR'


def _in(actions: Sequence[Action], state: ActionState) -> Sequence[Action]:
    return [action for action in actions if action.state == state]


def _action(change: ServerChange, image: str, server: ServerStatus,
            host: str | None) -> Action:
    """The rebuild of a server.

    :param image: UUID of the new image
    :param host: host to which the server moves before; None if it stays
    """
    row = change.row
    reasons = [Reason.of(row.member.path, format_message(
        'the definition requires image {}', change.wanted.image or image))]
    able = server.allows(REBUILDABLE)
    if not able:
        reasons.append(Reason.of(row.member.path, format_message(
            'the server is {}{}: Nova cannot rebuild it', server.status,
            '' if server.idle else ', and Nova is working on it')))
    flavor = (change.wanted.flavor if change.flavor is not None
              else row.member.requirements.flavor)
    host = host or row.place.host
    return Action(
        row.member.path, row.instance_uuid or '', ActionKind.REBUILD,
        ActionState.REQUIRED if able else ActionState.BLOCKED, host, host,
        flavor, flavor, tuple(reason.to_row() for reason in reasons))
