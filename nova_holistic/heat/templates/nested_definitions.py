# SPDX-License-Identifier: Apache-2.0
"""Templates of nested stacks that receive a group as a parameter.

They are read before the nested stacks exist.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heat.common import template_format
from heat.engine import environment
from heat.engine import stk_defn
from heat.engine import template
from oslo_config import cfg

from nova_holistic.heat.templates.stack_types import StackTypes
from nova_holistic.heat.templates.unknown_values import (
    contains, GROUP, NESTED_STACK, plain, without_resources)


@dataclass(frozen=True, slots=True)
class PointingStack:
    """A stack whose servers may point at a group.

    :ivar definition: of the stack; its references to the group have the value
        ``GROUP``
    :ivar place: of its template
    :ivar depth: number of stacks around it
    """

    definition: stk_defn.StackDefinition
    place: tuple[str, ...] = ()
    depth: int = 0

    def kind(self, name: Any, resource: str) -> Any:
        """The type that replaces the type of a resource.

        :param name: the type in the template
        :param resource: name of the resource; empty if there are several
        """
        return StackTypes(self.definition.env).resolved(
            name, resource, '') if isinstance(name, str) else name

    def nested(self, kind: Any, name: str, properties: Mapping[str, Any],
               place: Sequence[str]) -> 'PointingStack | None':
        """The nested stack of a resource; None if the resource creates no
        nested stack, or does not pass the group on.

        :param kind: the type of the resource in the template
        :param name: of the resource; empty if there are several
        :param place: of the properties
        """
        if not isinstance(kind, str) or (
                self.depth >= cfg.CONF.max_nested_stack_depth):
            return None
        text = self.definition.t.files.get(self.kind(kind, name))
        values = plain(properties)
        if text is None or not contains(values, GROUP):
            return None
        types = StackTypes(self.definition.env).inside(name, kind)
        return PointingStack(
            self._inside(text, values, types),
            (*place[:-2], f'{place[-2]}<{kind}>'), self.depth + 1)

    def _inside(self, text: str, values: Mapping[str, Any],
                types: StackTypes) -> stk_defn.StackDefinition:
        outer = self.definition
        inner = template.Template(
            template_format.parse(text), files=outer.t.files,
            env=environment.get_child_environment(types.env, {
                name: value for name, value in values.items()
                if value is not None}))
        return without_resources(outer.clone_with_new_template(
            inner, NESTED_STACK, clear_resource_data=True))


def top_level(definition: stk_defn.StackDefinition,
              group: str) -> PointingStack:
    """
    :param group: name of its resource
    """
    copied = definition.clone_with_new_template(
        definition.t, None, clear_resource_data=True)
    copied.parameters = definition.parameters
    return PointingStack(without_resources(copied, group))
