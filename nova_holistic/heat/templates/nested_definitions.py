# SPDX-License-Identifier: Apache-2.0
"""Templates of nested stacks that receive a group as a parameter.

They are read before the nested stacks exist.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heat.common import exception
from heat.common import template_format
from heat.engine import environment
from heat.engine import function
from heat.engine import stk_defn
from heat.engine import template
from oslo_config import cfg

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

    def nested(self, kind: Any, name: str, properties: Mapping[str, Any],
               place: Sequence[str]) -> 'PointingStack | None':
        """The nested stack of a resource; None if the resource creates no
        nested stack, or does not pass the group on.

        :param kind: the type of the resource
        :param name: of the resource
        :param place: of the properties
        """
        if self.depth >= cfg.CONF.max_nested_stack_depth or not any(
                map(self.is_group, properties.values())):
            return None
        text = self._template(kind, name)
        if text is None:
            return None
        return PointingStack(
            self._inside(text, properties), _is_value,
            (*place[:-2], f'{place[-2]}<{kind}>'), self.depth + 1)

    def _template(self, kind: Any, name: str) -> str | None:
        """The text of the template that is the type of a resource."""
        if not isinstance(kind, str):
            return None
        try:
            info = self.definition.env.get_resource_info(kind, name)
        except exception.EntityNotFound:
            return None
        if not isinstance(info, environment.TemplateResourceInfo):
            return None
        return self.definition.t.files.get(info.template_name)

    def _inside(self, text: str,
                properties: Mapping[str, Any]) -> stk_defn.StackDefinition:
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
            env=environment.get_child_environment(outer.env, values))
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
