# SPDX-License-Identifier: Apache-2.0
"""The members that a client names by the paths of a definition."""

from collections.abc import Collection, Sequence
import itertools

from nova_holistic.documents.groups.relationship_sides import (
    with_one_of_each)
from nova_holistic.documents.groups.without_policies import (
    parse_without_policies)
from nova_holistic.model.members.member_ranges import (
    member_ranges, with_replicas)
from nova_holistic.table import errors as table_errors
from nova_holistic.table.group_reasons import missing_paths
from nova_holistic.table.records import GroupRecord, MemberRecord
from nova_holistic.table.volume_records import VolumeRecord


def named_paths(record: GroupRecord, rows: Sequence[MemberRecord],
                names: Collection[str], volumes: Sequence[VolumeRecord] = (),
                ) -> frozenset[str]:
    """All paths in a group that the names cover completely: those of members,
    of member descriptions, of nested groups and of their replicas.

    :param rows: the members of the group
    :param names: each is one of these paths. If the definition has the path,
        the group may have no members there
    :param volumes: the volumes of the group
    :raises MemberUnknown: the group has no such path
    """
    described = with_one_of_each(
        parse_without_policies(record.document).resized([
            *(row.member.path for row in rows),
            *(volume.path for volume in volumes),
            *missing_paths(record.reasons)]))
    members = described.all_members()
    ranges = with_replicas(member_ranges(members), described)
    chosen = [False] * len(members)
    for name in names:
        if name not in ranges:
            raise table_errors.MemberUnknown(record.uuid, name)
        found = ranges[name]
        chosen[found] = [True] * (found.stop - found.start)
    before = [0, *itertools.accumulate(chosen)]
    return frozenset(
        path for path, found in ranges.items()
        if before[found.stop] - before[found.start]
        == found.stop - found.start)
