# SPDX-License-Identifier: Apache-2.0
"""Hosts that Nova refused for members are not planned for them again.

The planner does not know all of Nova's filters. Therefore the table stores the
hosts that they have refused. In the snapshot, such a host gets a trait, and
the description of the members forbids this trait.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.messages.cloud_totals import part
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.table.store import PlacementTable

Refused = Mapping[str, Collection[str]]
"""Host names by the path of the description of the members."""


def read(conf, table: PlacementTable, group_uuid: str, now: datetime
         ) -> Refused:
    """The unexpired refusals of hosts for members of a group."""
    lifetime = conf.planner.refusal_lifetime
    if not lifetime:
        return {}
    return table.refusals.of_group(
        group_uuid, now - timedelta(seconds=lifetime))


def with_refusal_traits(snapshot: Snapshot, refused: Refused) -> Snapshot:
    """The snapshot in which the refused hosts have a trait for each
    description."""
    traits: dict[str, set[str]] = {}
    for path, hosts in refused.items():
        for name in hosts:
            traits.setdefault(name, set()).add(_trait(path))
    if not traits:
        return snapshot
    return replace(snapshot, hosts=tuple(
        replace(host, traits=host.traits | traits[host.name])
        if host.name in traits else host for host in snapshot.hosts))


def with_forbidden_traits(group: Group, refused: Refused,
                          prefix: str = '') -> Group:
    """The group whose descriptions forbid the traits of refused hosts."""
    if not refused:
        return group
    return replace(
        group,
        members=tuple(
            replace(member, requirements=replace(
                member.requirements,
                forbidden_traits=member.requirements.forbidden_traits
                | {_trait(prefix + member.name)}))
            if prefix + member.name in refused else member
            for member in group.members),
        groups=tuple(with_forbidden_traits(nested, refused,
                                           f'{prefix}{nested.name}/')
                     for nested in group.groups))


def reasons(refused: Refused,
            hosts: Mapping[str, Host]) -> tuple[Reason, ...]:
    """Additional reasons for a group that cannot be placed.

    :param hosts: all hosts by name
    """
    counts = {path: sum(name in hosts and hosts[name].enabled
                        for name in names)
              for path, names in sorted(refused.items())}
    return tuple(
        Reason.of(path, format_message(
            "Nova's filters refused {} for this member: these have the trait "
            '{}', part(count, len(hosts)), _trait(path)))
        for path, count in counts.items() if count)


def _trait(path: str) -> str:
    """A name that no trait of Placement can have."""
    return f'refused:{path}'
