# SPDX-License-Identifier: Apache-2.0
"""Images, server groups and filters of Nova that affect a plan."""

from collections.abc import Collection, Mapping
from collections import Counter
from dataclasses import replace

from oslo_log import log as logging

from nova_holistic.constraints.filters import num_instances
from nova_holistic.constraints import group_constraints
from nova_holistic.constraints.group_constraints import PlanningContext
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.engine.decision.deleted_references import EarlierPlans
from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.errors import UnreadableReference
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.server_group import ServerGroup
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Policy
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Usable = tuple[Snapshot, Collection[Reason]]


class NovaConstraints:
    """Applies nova_holistic.constraints to planning requests."""

    def __init__(self, conf, inventory: CloudInventory,
                 table: PlacementTable, policy_types: PolicyTypes):
        self._conf = conf
        self._inventory = inventory
        self._table = table
        self._affinity = policy_types.relationships['affinity']

    def with_nova_rules(self, snapshot: Snapshot,
                        request: PlanningRequest) -> Snapshot:
        """The snapshot with the images and server groups of the members.

        A bound server group that was deleted in Nova is left out. A flavor,
        image or server group that was deleted after its members were planned
        is known from their rows.

        :raises InvalidDocument: an image or server group does not exist, or
            the project may not use it
        :raises UnreadableReference: an image or server group cannot be read
        """
        earlier = EarlierPlans(self._table, request.uuid, request.group)
        flavors, images, groups = (
            dict(snapshot.flavors), dict(snapshot.images),
            dict(snapshot.server_groups))
        for path, each in group_constraints.descriptions(request.bound_group):
            needs = each.requirements
            if needs.flavor is not None and needs.flavor not in flavors:
                # A flavor that no row contains is a mistake of the group,
                # which is reported together with others when it is bound.
                flavor = earlier.flavor(needs.flavor)
                if flavor is not None:
                    flavors[needs.flavor] = flavor
            if isinstance(needs.image, str) and needs.image not in images:
                images[needs.image] = self._image(each, earlier,
                                                  request.project_id)
            uuid = needs.server_group
            if uuid is not None and uuid not in groups:
                found = self._group(each, uuid, request.project_id)
                if found is not None:
                    groups[uuid] = found
                elif (request.server_groups.get(path) != uuid
                        and not earlier.had_server_group(uuid)):
                    raise exceptions.InvalidDocument(
                        f'{each.place}.server_group',
                        f'unknown server group {uuid}')
        if (len(flavors), len(images), len(groups)) == (
                len(snapshot.flavors), len(snapshot.images),
                len(snapshot.server_groups)):
            return snapshot
        return replace(snapshot, flavors=FrozenMapping(flavors),
                       images=FrozenMapping(images),
                       server_groups=FrozenMapping(groups))

    def _image(self, description: MemberDescription, earlier: EarlierPlans,
               project_id: str | None) -> Image:
        place = f'{description.place}.image'
        name = description.requirements.image
        try:
            found = self._inventory.image(name, project_id)
        except exceptions.HolisticError as error:
            LOG.error('Image %s cannot be read: %s', name, error)
            raise UnreadableReference(place,
                                      f'image {name!r} cannot be read now'
                                      ) from error
        found = found or earlier.image(name)
        if found is None:
            raise exceptions.InvalidDocument(
                place, f'unknown image {name!r}')
        return found

    def _group(self, description: MemberDescription, uuid: str,
               project_id: str | None) -> ServerGroup | None:
        """The server group; None if the project has no such server group."""
        place = f'{description.place}.server_group'
        try:
            found = self._inventory.server_groups([uuid]).get(uuid)
        except exceptions.HolisticError as error:
            LOG.error('Server group %s cannot be read: %s', uuid, error)
            raise UnreadableReference(place,
                                      f'server group {uuid} cannot be read now'
                                      ) from error
        if found is None or project_id not in (None, found.project_id):
            return None
        return found

    def count_servers(self, request: PlanningRequest) -> bool:
        """Whether a plan depends on the number of servers on hosts."""
        return (num_instances.is_enabled(NovaOptions.from_conf(self._conf))
                or any(policy.counts_servers
                       for scope in request.group.scopes()
                       for policy in scope.group.rules))

    def marked(self, snapshot: Snapshot, request: PlanningRequest,
               whole: Mapping[str, Host]) -> Usable:
        """The snapshot with traits and limits for the members of the group,
        and additional reasons if the group cannot be placed.

        See ``group_constraints.with_refusals``.

        :param whole: all hosts by name, with the numbers of all their servers
        """
        options = NovaOptions.from_conf(self._conf)
        left = Counter(row.place.host for row in request.vacated)
        own = {
            row.instance_uuid for row in self._table.members(request.uuid)
            if row.member.path in request.placed and row.instance_uuid
        } if request.uuid and snapshot.server_groups else ()
        context = PlanningContext(
            request.project_id, request.placed, own,
            {name: host.servers - left[name] for name, host in whole.items()}
            if num_instances.is_enabled(options) else FrozenMapping())
        return group_constraints.with_refusals(
            snapshot, request.bound_group, context, options)

    def constrained(self, group: Group, snapshot: Snapshot) -> Group:
        """The group whose members respect the traits and limits of a snapshot
        that ``marked`` returned.

        See ``group_constraints.with_constraints``.
        """
        return group_constraints.with_constraints(
            group, snapshot, NovaOptions.from_conf(self._conf),
            self._together)

    def _together(self, path: str, other: str) -> Policy:
        return self._affinity.from_document(
            {'between': (path, other), 'level': 'host'}, weight=None,
            place='')
