# SPDX-License-Identifier: Apache-2.0
"""The resources of a template that create nested stacks, and the templates of
these."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.hot.functions import Resolver
from nova_holistic.documents.hot.nested_stack import NestedUse
from nova_holistic.documents.hot import resource_values
from nova_holistic.documents.hot.resource_values import written_out
from nova_holistic.documents.hot.template_files import TemplateSource
from nova_holistic.documents.hot.type_registry import is_template_file
from nova_holistic.documents.validation import join

RESOURCE_GROUP = 'OS::Heat::ResourceGroup'
SCALING_GROUP = 'OS::Heat::AutoScalingGroup'
FIRST = '0'
"""Name of one resource of a group of resources. The others are equal, except
for their index."""


class NestedResources:
    """The nested resources of one template."""

    def __init__(self, resources: Mapping[str, Any], resolver: Resolver,
                 source: TemplateSource):
        self._resources = resources
        self._resolver = resolver
        self._source = source

    def uses(self) -> dict[str, NestedUse]:
        """The uses by the names of the resources. Mistakes are collected."""
        found = {}
        for name, resource in self._resources.items():
            with self._resolver.mistakes.collected():
                use = self._use(name, resource, join('resources', name))
                if use is not None:
                    found[name] = use
        return found

    def _use(self, name: str, resource: dict, place: str) -> NestedUse | None:
        kind = self._source.type_of(
            resource['type'], join(place, 'type'), name)
        properties, own = join(place, 'properties'), (name, resource['type'])
        if is_template_file(kind):
            return NestedUse(name, self._located(kind), kind, written_out(
                resource, 'properties', place), properties, (own,))
        if kind not in (RESOURCE_GROUP, SCALING_GROUP):
            return None
        outer = written_out(resource, 'properties', place)
        key = 'resource_def' if kind == RESOURCE_GROUP else 'resource'
        definition = written_out(outer, key, properties)
        around = join(properties, key)
        inner = self._source.type_of(
            definition.get('type'), join(around, 'type'))
        if not is_template_file(inner):
            return None
        use = NestedUse(
            name, self._located(inner), inner,
            written_out(definition, 'properties', around),
            join(around, 'properties'), (own, (FIRST, definition['type'])))
        return self._repeated(use, kind, outer, properties)

    def _repeated(self, use: NestedUse, kind: str, outer: dict,
                  place: str) -> NestedUse:
        if kind == SCALING_GROUP:
            return use.with_elastic(
                resource_values.elastic(outer, self._resolver, place))
        resource_values.check_removals(outer, self._resolver, place)
        return use.with_count(
            resource_values.count(outer, self._resolver, place),
            resource_values.index_variable(outer, self._resolver, place))

    def _located(self, name: str) -> str:
        return self._source.files.locate(name, self._source.base)
