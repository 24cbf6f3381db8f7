# SPDX-License-Identifier: Apache-2.0
"""The current numbers of servers of members whose number may change."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import Bounds, numbered
from nova_holistic.model.members.member import MemberDescription


@dataclass(frozen=True, slots=True)
class Count:
    """
    :ivar path: path of a member, or of a nested group that exists several
        times
    :ivar number: number of its servers or replicas that are planned or exist
    """

    path: str
    bounds: Bounds
    number: int

    @property
    def missing(self) -> int:
        return max(0, self.bounds.desired - self.number)


def counts(group: Group, live: Collection[str],
           prefix: str = '') -> Iterator[Count]:
    """One Count for each count with bounds, in the order of the document. The
    counts inside a replica follow it.

    :param group: the group as its document describes it
    :param live: paths of the servers that are planned or exist
    :param prefix: prefix of all paths of the group
    """
    for description in group.members:
        if description.bounds:
            yield Count(prefix + description.name, description.bounds,
                        len(servers_of(description, prefix, live)))
    templates = {each.name for each in group.templates}
    for nested in group.groups:
        if nested.stem not in templates:
            yield from counts(nested, live, f'{prefix}{nested.name}/')
    for template in group.templates:
        replicas = replicas_of(template, prefix, live)
        if template.bounds:
            yield Count(prefix + template.name, template.bounds,
                        len(replicas))
        for number in sorted(replicas):
            yield from counts(template.replica(number), live,
                              f'{prefix}{template.name}-{number}/')


def replicas_of(template: Group, prefix: str,
                live: Collection[str]) -> set[int]:
    """The numbers of the replicas with a server.

    :param prefix: prefix of the paths of the group around the template
    """
    return {number for each in names_below(prefix, live)
            if (number := numbered(template.name, each)) is not None}


def servers_of(description: MemberDescription, prefix: str,
               live: Collection[str]) -> set[str]:
    """Names of the servers of a member that are planned or exist."""
    if description.bounds is None:
        return {each for each in description.server_names()
                if prefix + each in live}
    return {each for each in names_below(prefix, live)
            if numbered(description.name, each) is not None}


def names_below(prefix: str, paths: Collection[str]) -> set[str]:
    """The first part of each path below the prefix."""
    return {path[len(prefix):].partition('/')[0] for path in paths
            if path.startswith(prefix)}
