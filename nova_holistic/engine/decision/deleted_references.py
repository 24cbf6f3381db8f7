# SPDX-License-Identifier: Apache-2.0
"""Flavors, images and server groups that were deleted after members were
planned with them.

Nova allows the deletion of a flavor, an image or a server group while servers
have it, and these servers continue to run. The rows of their members contain
what the flavor and the image required, so that the other members can still be
planned.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce

from nova_holistic.documents.groups.without_policies import (
    parse_without_policies)
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova.image import Image
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table.store import OCCUPYING, PlacementTable

_KEPT = (*OCCUPYING, MemberState.LOST)

Reference = Callable[[Requirements], object]


class EarlierPlans:
    """What the table contains about deleted references of a group.

    It is read when a reference does not exist.
    """

    def __init__(self, table: PlacementTable, uuid: str | None, group: Group):
        """
        :param uuid: UUID of the group; None if it is not in the table
        :param group: the group with the members of the request
        """
        self._table = table
        self._uuid = uuid
        self._group = group

    def flavor(self, name: str) -> Flavor | None:
        """The flavor with which all members that name it were planned; None if
        one of them was planned without it."""
        found = self._planned(lambda needs: needs.flavor, name)
        if not found:
            return None
        on_hosts = [row for each, row in found
                    if not each.requirements.boot_from_volume]
        on_volumes = [row for each, row in found
                      if each.requirements.boot_from_volume]
        resources = _amounts((on_hosts or on_volumes)[0])
        root_gb = 0
        if on_hosts and on_volumes:
            root_gb = (resources.get('DISK_GB', 0)
                       - _amounts(on_volumes[0]).get('DISK_GB', 0))
        return Flavor(
            name, name, resources,
            _common(_required(each, row) for each, row in found),
            _common(row.member.requirements.forbidden_traits
                    - each.requirements.forbidden_traits
                    for each, row in found),
            root_gb=root_gb,
            request_groups=tuple(
                group for group in found[0][1].member.requirements
                .request_groups
                if all(group in row.member.requirements.request_groups
                       and group not in each.requirements.request_groups
                       for each, row in found)),
            group_policy=found[0][1].member.requirements.group_policy)

    def image(self, name: str) -> Image | None:
        """An image with the traits with which all members that name it were
        planned; None if one of them was planned without it."""
        found = self._planned(lambda needs: needs.image, name)
        return Image(name, FrozenMapping({
            f'trait:{trait}': 'required' for trait in sorted(_common(
                _required(each, row) for each, row in found))
        })) if found else None

    def had_server_group(self, uuid: str) -> bool:
        """Whether all members that name a server group were planned with
        it."""
        return bool(self._planned(lambda needs: needs.server_group, uuid))

    def _planned(self, reference: Reference, name: str) -> Sequence[
            tuple[MemberDescription, MemberRecord]]:
        """Each member that names the reference, with its row; empty if one of
        them has no place from an earlier plan with this reference."""
        found = []
        for each, path in _members(self._group, ''):
            if reference(each.requirements) != name:
                continue
            row, needs = self._rows.get(path), self._before.get(path)
            if (row is None or row.state not in _KEPT or needs is None
                    or reference(needs) != name
                    # An update that needs a resize keeps the old flavor.
                    or row.member.requirements.flavor != needs.flavor):
                return ()
            found.append((each, row))
        return found

    @cached_property
    def _rows(self) -> Mapping[str, MemberRecord]:
        """All rows of the group by the path of their member."""
        return {row.member.path: row for row in self._table.members(
            self._uuid)} if self._uuid else {}

    @cached_property
    def _before(self) -> Mapping[str, Requirements]:
        """The requirements of the current definition by path: rows do not
        contain the image."""
        record = self._rows and self._table.get_group(self._uuid)
        if not record:
            return {}
        group = parse_without_policies(record.document)
        return {member.path: member.requirements
                for member in group.resized(self._rows.keys()).all_members()}


def _members(group: Group, prefix: str) -> Iterable[
        tuple[MemberDescription, str]]:
    """Each member with its description."""
    for each in group.members:
        for name in each.server_names():
            yield each, prefix + name
    for nested in group.groups:
        yield from _members(nested, f'{prefix}{nested.name}/')


def _amounts(row: MemberRecord) -> FrozenMapping[str, int]:
    """The amounts of the flavor. The row of a resized server has others."""
    return FrozenMapping(row.planned or row.member.requirements.resources)


def _required(each: MemberDescription, row: MemberRecord) -> frozenset[str]:
    """The traits that the flavor and the image required."""
    return (row.member.requirements.required_traits
            - each.requirements.required_traits)


def _common(found: Iterable[frozenset[str]]) -> frozenset[str]:
    return reduce(frozenset.intersection, found)
