# SPDX-License-Identifier: Apache-2.0
"""Images, server groups and filters of Nova, for one question of a plan."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from oslo_log import log as logging

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints import planning
from nova_holistic.constraints.planning import Situation
from nova_holistic.engine.errors import NotRead
from nova_holistic.engine.questions import Question
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.image import Image
from nova_holistic.model.member import MemberDescription
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Policy
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.model.server_group import ServerGroup
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Usable = tuple[Snapshot, Collection[Reason]]


class NovaConstraints:
    """Applies nova_holistic.constraints to the questions of a decider."""

    def __init__(self, conf, inventory: CloudInventory,
                 table: PlacementTable, policy_types: PolicyTypes):
        self._conf = conf
        self._inventory = inventory
        self._table = table
        self._affinity = policy_types.relationships['affinity']

    def informed(self, snapshot: Snapshot, question: Question) -> Snapshot:
        """The snapshot with the images and server groups of the members.

        A bound server group that was deleted has no rule.

        :raises InvalidDocument: there is no such image or server group that
            the project may use
        :raises NotRead: it cannot be read
        """
        images, groups = dict(snapshot.images), dict(snapshot.server_groups)
        for path, each in planning.descriptions(question.bound_group):
            name = each.requirements.image
            if isinstance(name, str) and name not in images:
                images[name] = self._image(each, name, question.project_id)
            uuid = each.requirements.server_group
            if uuid is not None and uuid not in groups:
                found = self._group(each, uuid, question.project_id)
                if found is not None:
                    groups[uuid] = found
                elif question.server_groups.get(path) != uuid:
                    raise exceptions.InvalidDocument(
                        f'{each.place}.server_group',
                        f'unknown server group {uuid}')
        if (len(images), len(groups)) == (
                len(snapshot.images), len(snapshot.server_groups)):
            return snapshot
        return replace(snapshot, images=FrozenMapping(images),
                       server_groups=FrozenMapping(groups))

    def _image(self, description: MemberDescription, name: str,
               project_id: str | None) -> Image:
        place = f'{description.place}.image'
        try:
            found = self._inventory.image(name, project_id)
        except exceptions.HolisticError as error:
            LOG.error('Image %s cannot be read: %s', name, error)
            raise NotRead(place, f'image {name!r} cannot be read now'
                          ) from error
        if found is None:
            raise exceptions.InvalidDocument(
                place, f'unknown image {name!r}')
        return found

    def _group(self, description: MemberDescription, uuid: str,
               project_id: str | None) -> ServerGroup | None:
        """None if the project has none of that UUID."""
        place = f'{description.place}.server_group'
        try:
            found = self._inventory.server_groups([uuid]).get(uuid)
        except exceptions.HolisticError as error:
            LOG.error('Server group %s cannot be read: %s', uuid, error)
            raise NotRead(place, f'server group {uuid} cannot be read now'
                          ) from error
        if found is None or project_id not in (None, found.project_id):
            return None
        return found

    def marked(self, snapshot: Snapshot, question: Question,
               whole: Mapping[str, Host]) -> Usable:
        """See ``planning.marked``.

        :param whole: every host with all of its servers, by name
        """
        left = Counter(row.place.host for row in question.vacated)
        own = {
            row.instance_uuid for row in self._table.members(question.uuid)
            if row.member.path in question.placed and row.instance_uuid
        } if question.uuid and snapshot.server_groups else ()
        return planning.marked(snapshot, question.bound_group, Situation(
            question.project_id, question.placed, own, {
                name: host.servers - left[name]
                for name, host in whole.items()}),
            NovaOptions.from_conf(self._conf))

    def constrained(self, group: Group, snapshot: Snapshot) -> Group:
        """See ``planning.constrained``."""
        return planning.constrained(
            group, snapshot, NovaOptions.from_conf(self._conf),
            self._together)

    def _together(self, path: str, other: str) -> Policy:
        return self._affinity.from_document(
            {'between': (path, other), 'level': 'host'}, weight=None,
            place='')
