# SPDX-License-Identifier: Apache-2.0
"""Templates of nested stacks that receive a group as a parameter.

They are read before the nested stacks exist.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heat.common import template_format
from heat.engine import environment
from heat.engine import function
from heat.engine import stk_defn
from heat.engine import template
from oslo_config import cfg

from nova_holistic.heat.templates.stack_types import StackTypes

_GROUP = '00000000-0000-0000-0000-000000000000'
"""Value of the parameters that receive the group, which may not exist yet."""
_REFERENCES = ('get_resource', 'Ref')


@dataclass(frozen=True, slots=True)
class PointingStack:
    """A stack whose servers may point at a group.

    :ivar definition: of the stack
    :ivar is_group: whether a value of its template is the group
    :ivar place: of its template
    :ivar depth: number of stacks around it
    """

    definition: stk_defn.StackDefinition
    is_group: Callable[[Any], bool]
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
                self.depth >= cfg.CONF.max_nested_stack_depth) or not any(
                    map(self.is_group, properties.values())):
            return None
        text = self.definition.t.files.get(self.kind(kind, name))
        if text is None:
            return None
        types = StackTypes(self.definition.env).inside(name, kind)
        return PointingStack(
            self._inside(text, properties, types), _is_value,
            (*place[:-2], f'{place[-2]}<{kind}>'), self.depth + 1)

    def _inside(self, text: str, properties: Mapping[str, Any],
                types: StackTypes) -> stk_defn.StackDefinition:
        values = {}
        for name, value in properties.items():
            if self.is_group(value):
                values[name] = _GROUP
                continue
            try:
                values[name] = function.resolve(value)
            except Exception:
                # It is not known yet: no member may depend on it.
                continue
        outer = self.definition
        inner = template.Template(
            template_format.parse(text), files=outer.t.files,
            env=environment.get_child_environment(types.env, values))
        return outer.clone_with_new_template(
            inner, None, clear_resource_data=True)


def top_level(definition: stk_defn.StackDefinition,
              group: str) -> PointingStack:
    """
    :param group: name of its resource
    """
    return PointingStack(definition, lambda value: (
        isinstance(value, function.Function)
        and value.fn_name in _REFERENCES and value.args == group))


def _is_value(value: Any) -> bool:
    try:
        return function.resolve(value) == _GROUP
    except Exception:
        return False
