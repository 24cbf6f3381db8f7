# SPDX-License-Identifier: Apache-2.0
"""Nested groups of which no replica is desired. The members of a group do not
contain their members."""

from dataclasses import replace

from nova_holistic.model.group import Group


def has_unused(group: Group) -> bool:
    """Whether a nested group has no replica."""
    return any(_unused(each) for each in group.described_groups())


def with_replicas(group: Group) -> Group:
    """The group with at least one replica of each nested group."""
    return replace(group, groups=tuple(
        with_replicas(each) for each in (*group.groups, *_unused(group))))


def _unused(group: Group) -> list[Group]:
    """A first replica of each nested group that has none."""
    used = {each.stem for each in group.groups}
    return [each.replica(0) for each in group.templates
            if each.name not in used]
