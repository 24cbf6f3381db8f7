# SPDX-License-Identifier: Apache-2.0
"""The groups of a chaos run: a shape and a count give a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

HOST_APART = {'type': 'anti-affinity', 'level': 'host'}
RACK_PAIRS = {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': 2}
ONE_RACK = {'type': 'affinity', 'level': 'rack'}


@dataclass(frozen=True)
class Shape:
    """A kind of group, without the numbers of its servers.

    :ivar policies: policies of the group
    :ivar flavors: flavors by the name of a nested group with one counted
        member ``node``; the name is empty for a member of the group itself
    :ivar nested: policies of nested groups by their names
    """

    policies: Sequence[Mapping[str, Any]]
    flavors: Mapping[str, str]
    nested: Mapping[str, Sequence[Mapping[str, Any]]] = field(
        default_factory=dict)

    def document(self, name: str, count: int) -> dict[str, Any]:
        """:param count: number of servers of each member"""
        def members(flavor: str) -> list[dict[str, Any]]:
            return [{'name': 'node', 'count': count, 'flavor': flavor}]

        return {
            'name': name, 'policies': [*self.policies],
            'members': [member for path, flavor in self.flavors.items()
                        if not path for member in members(flavor)],
            'groups': [{'name': path, 'members': members(flavor),
                        'policies': [*self.nested.get(path, ())]}
                       for path, flavor in self.flavors.items() if path]}

    def paths(self, count: int) -> list[str]:
        """The paths of all members."""
        return [f'{path}/node-{number}'.lstrip('/')
                for path in self.flavors for number in range(count)]

    def flavor(self, path: str) -> str:
        """The flavor of the member with that path."""
        return self.flavors[path.rpartition('/')[0]]


SHAPES = (
    Shape([HOST_APART], {'': 'large'}),
    Shape([HOST_APART, RACK_PAIRS], {'': 'small'}),
    Shape([ONE_RACK], {'': 'large'}),
    Shape([], {'app': 'large', 'db': 'small'},
          {'app': [HOST_APART], 'db': [ONE_RACK]}),
    Shape([RACK_PAIRS], {'': 'large'}))
