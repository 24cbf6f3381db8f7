# SPDX-License-Identifier: Apache-2.0
"""Several copies of a group as one group.

Each copy is a nested group with the policies of the original. No policy
applies between copies, but an exclusive policy of one copy excludes the
others, like any other server.
"""

from collections.abc import Mapping
from dataclasses import replace

from nova_holistic.model.group import Group


def copies(group: Group, number: int, first: int = 0) -> Group:
    """A group of several copies.

    :param first: number of the first copy; the names of the nested groups
        contain the numbers of the copies
    """
    return Group(group.name, groups=tuple(
        replace(group, name=_name(first + each)) for each in range(number)))


def as_copy(hosts: Mapping[str, str], number: int) -> dict[str, str]:
    """Convert a placement of the group to a placement of one of its copies.

    :param hosts: member path to host name
    :param number: number of the copy
    """
    return {f'{_name(number)}/{path}': host for path, host in hosts.items()}


def _name(number: int) -> str:
    return f'copy-{number}'
