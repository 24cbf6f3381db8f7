# SPDX-License-Identifier: Apache-2.0
"""Nested groups of which no replica is desired. The members of a group do not
contain their members."""

from collections.abc import Collection
from dataclasses import replace

from nova_holistic.model.group import Group, join_path


def has_unused(group: Group) -> bool:
    """Whether a nested group has no replica."""
    return any(_unused(each) for each in group.described_groups())


def with_replicas(group: Group, known: Collection[str] = (),
                  path: str = '') -> Group:
    """The group with at least one replica of each nested group.

    :param known: paths in the document of nested groups that get no replica
    :param path: path of the group in the document
    """
    nested = (*group.groups, *(each for each in _unused(group)
                               if _below(path, each) not in known))
    return replace(group, groups=tuple(
        with_replicas(each, known, _below(path, each)) for each in nested))


def _below(path: str, group: Group) -> str:
    """The path in the document of a group nested in the group with a path."""
    return join_path(path, group.stem or group.name)


def _unused(group: Group) -> list[Group]:
    """A first replica of each nested group that has none."""
    used = {each.stem for each in group.groups}
    return [each.replica(0) for each in group.templates
            if each.name not in used]
