# SPDX-License-Identifier: Apache-2.0
"""Types of resources in the environment of a stack."""

from dataclasses import dataclass

from heat.common import exception
from heat.engine import environment


@dataclass(frozen=True, slots=True)
class StackTypes:
    """Types that Heat's own environment, that of the user, and the types of
    single resources replace."""

    env: environment.Environment

    def resolved(self, name: str, resource: str, place: str) -> str:
        """The type that replaces a type; itself if Heat does not know it.

        :param resource: name of the resource; empty if there are several
        :param place: position of the type
        """
        info = self._info(name, resource)
        if isinstance(info, environment.TemplateResourceInfo):
            return info.template_name
        return info.name if info is not None else name

    def inside(self, resource: str, name: str) -> 'StackTypes':
        """The types of the nested stack of a resource.

        :param name: type of the resource
        """
        return StackTypes(environment.get_child_environment(
            self.env, {}, item_to_remove=self._info(name, resource),
            child_resource_name=resource))

    def _info(self, name: str,
              resource: str) -> environment.ResourceInfo | None:
        try:
            return self.env.get_resource_info(name, resource or None)
        except exception.EntityNotFound:
            return None
