# SPDX-License-Identifier: Apache-2.0
"""Requests to Nova that create the servers of members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import hashlib
from typing import Any

from nova_holistic.documents.schemas.server import DEVICES
from nova_holistic.documents.servers.server import (
    KEY, known_image, named, POINTER_METADATA)
from nova_holistic.documents.servers.value_formats import printable_name
from nova_holistic.model.members.bounds import numbered
from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT

_LONGEST = 255
_NETWORKS = 'auto'


@dataclass(frozen=True, slots=True)
class MemberServer:
    """The server of a member that will be created.

    :ivar group_uuid: UUID of the group with the place of the server
    :ivar group_name: name of this group
    :ivar path: path of the member
    :ivar description: member description with its key ``server``
    """

    group_uuid: str
    group_name: str
    path: str
    description: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the server."""
        *groups, member = self.path.split('/')
        index = numbered(self.description['name'], member)
        path = '-'.join([*groups, member])
        server_name = named(
            self.description[KEY].get('name', '{group}-{path}'), {
                'group': self.group_name, 'path': path, 'member': member,
                'index': '' if index is None else str(index)})
        return _shortened(printable_name(server_name))

    @property
    def flavor(self) -> str:
        """The name or ID of the flavor."""
        return self.description.get(
            'flavor', str(self.description[KEY].get('flavorRef', '')))


def create_body(server: MemberServer, flavor_id: str) -> dict[str, Any]:
    """The body of ``POST /servers`` for the version ``NOVA_VERSION`` of Nova's
    API.

    The server points at the place of its member. Its metadata and its tag
    identify the member, so that a client finds the server again after an
    interruption.

    :param flavor_id: the ID of the flavor, because Nova's create does not
        accept names
    """
    description = server.description
    body = {'networks': _NETWORKS, **description[KEY],
            'name': server.name, 'flavorRef': flavor_id}
    image = known_image(description)
    if image and DEVICES not in body:
        body.setdefault('imageRef', image)
    if 'availability_zone' in description:
        body['availability_zone'] = description['availability_zone']
    body['metadata'] = {**body.get('metadata', {}),
                        **pointer_metadata(server.group_uuid, server.path)}
    body['tags'] = [*body.get('tags', ()), group_tag(server.group_uuid)]
    hints = pointer_hints(server.group_uuid, server.path)
    if 'server_group' in description:
        hints['group'] = description['server_group']
    return {'server': body, 'os:scheduler_hints': hints}


def pointer_metadata(group_uuid: str, path: str) -> dict[str, str]:
    """The metadata of the server of a member."""
    return dict(zip(POINTER_METADATA, (group_uuid, _shortened(path)),
                    strict=True))


def pointer_hints(group_uuid: str, path: str) -> dict[str, str]:
    """The scheduler hints of the server or the volume of a member."""
    return {GROUP_HINT: group_uuid, MEMBER_HINT: path}


def group_tag(group_uuid: str) -> str:
    """The tag of the servers of a group; the list of Nova's servers can be
    filtered by it."""
    return f'{GROUP_HINT}={group_uuid}'


def member_description(document: Mapping[str, Any],
                       path: str) -> Mapping[str, Any] | None:
    """The description of a member in a valid group document; None if the path
    is unknown.

    :param document: with or without its outer key
    """
    document = document.get('group', document)
    *groups, name = path.split('/')
    for step in groups:
        document = _search(document.get('groups', ()), step)
        if document is None:
            return None
    return _search(document.get('members', ()), name)


def _search(parts: Sequence[Mapping[str, Any]],
            name: str) -> Mapping[str, Any] | None:
    return next((part for part in parts if _stands_for(part, name)), None)


def _stands_for(part: Mapping[str, Any], name: str) -> bool:
    if 'count' in part:
        return numbered(part['name'], name) is not None
    return part['name'] == name


def _shortened(text: str) -> str:
    """A text that is at most as long as Nova accepts. Different texts remain
    different."""
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f'{text[:_LONGEST - len(digest) - 1]}-{digest}'
