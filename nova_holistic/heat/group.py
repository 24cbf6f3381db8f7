# SPDX-License-Identifier: Apache-2.0
"""The resource type OS::NovaHolistic::Group."""

from collections.abc import Mapping
import hashlib
import json
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes
from heat.engine import constraints
from heat.engine import function
from heat.engine import properties
from heat.engine import resource
from heat.engine import stk_defn
from oslo_config import cfg

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from nova_holistic.heat import (
    api_client, group_document, legacy_update, level_check)
from nova_holistic.heat.group_revision import Replacement

GOOD = ('planned', 'building', 'complete', 'released')
"""Statuses of a group without an error."""
DEFINITION = 'definition'
"""Name of the data of the resource: the digest of the definition that was
sent."""


class Group(resource.Resource):
    """A group of servers that are placed together.

    The members are described in full, or derived from the servers of the
    template that point at the group.
    """

    PROPERTIES = (
        NAME, POLICIES, GROUPS, RELATIONSHIPS, MEMBERS, LEASE, OBJECTIVE,
    ) = (
        'name', 'policies', 'groups', 'relationships', 'members', 'lease',
        'objective',
    )
    ATTRIBUTES = (STATUS, PLACEMENTS, GAP) = ('status', 'placements', 'gap')

    properties_schema = {
        NAME: properties.Schema(
            properties.Schema.STRING,
            _('Name of the group.'), update_allowed=True),
        POLICIES: properties.Schema(
            properties.Schema.LIST,
            _('Rules for all members.'), update_allowed=True),
        GROUPS: properties.Schema(
            properties.Schema.LIST,
            _('Nested groups.'), update_allowed=True),
        RELATIONSHIPS: properties.Schema(
            properties.Schema.LIST,
            _('Rules between two groups or members.'), update_allowed=True),
        MEMBERS: properties.Schema(
            properties.Schema.LIST,
            _('Members. If neither the group nor a nested group has members, '
              'the servers that point at the group become its members.'),
            update_allowed=True),
        LEASE: properties.Schema(
            properties.Schema.INTEGER,
            _('Seconds for which the capacity of members without a server is '
              'held. 0 means no lease.'),
            constraints=[constraints.Range(min=0)], update_allowed=True),
        OBJECTIVE: properties.Schema(
            properties.Schema.STRING,
            _('What the plan optimises, for example spread.'),
            update_allowed=True),
    }
    attributes_schema = {
        STATUS: attributes.Schema(
            _('Status of the group.'), type=attributes.Schema.STRING,
            cache_mode=attributes.Schema.CACHE_NONE),
        PLACEMENTS: attributes.Schema(
            _('Members with their states and servers, and with their hosts '
              'if the user is an administrator.'),
            type=attributes.Schema.LIST,
            cache_mode=attributes.Schema.CACHE_NONE),
        GAP: attributes.Schema(
            _('Relative distance of the plan from the proven bound of the '
              'objective, as a fraction. It has no value if nothing is '
              'proved.'), cache_mode=attributes.Schema.CACHE_NONE),
    }

    # A check fails if the group is degraded. A replacement would replace all
    # servers.
    always_replace_on_check_failed = False
    _after: stk_defn.StackDefinition | None = None

    def validate(self) -> None:
        super().validate()
        if any(other.action == other.INIT for other in function.dependencies(
                self.properties.data)):
            # As Heat does, wait for values that other resources provide.
            return
        document = self._document(self.stack.defn, self.properties)
        if self.stack.strict_validate:
            level_check.check(
                self._client(), document,
                lambda place: ('resources', self.name, 'properties', place))

    def handle_create(self) -> None:
        document = self._document(self._definition, self.properties)
        created = self._client().groups.create(
            document, objective=self.properties[self.OBJECTIVE],
            lease=self.properties[self.LEASE], idempotency_key=self.uuid)
        self.resource_id_set(created['id'])
        self.data_set(DEFINITION, _digest(document))

    def check_create_complete(self, _token: Any) -> bool:
        return self._is_done(api_client.polled(
            lambda: self._client().groups.get(self.resource_id)))

    def update_convergence(self, template_id: Any, new_requires: Any,
                           engine_id: str, timeout: float, new_stack: Any,
                           progress_callback: Any = None) -> None:
        # Servers of the new template may change the derived members.
        self._after = new_stack.defn
        super().update_convergence(
            template_id, new_requires, engine_id, timeout, new_stack,
            progress_callback)

    def _needs_update(self, after: Any, before: Any, after_props: Any,
                      before_props: Any, prev_resource: Any,
                      check_init_complete: bool = True) -> bool:
        try:
            # Heat ignores GroupMissing when it reads the live state.
            needed = (self.converge or cfg.CONF.observe_on_update) and (
                self._is_changed(self._existing(), after_props))
            needed |= super()._needs_update(
                after, before, after_props, before_props, prev_resource,
                check_init_complete)
        except api_client.GroupMissing as error:
            # Heat records no event for an error before an update.
            self._add_event(self.UPDATE, self.FAILED, str(error))
            raise exception.ResourceFailure(
                error, self, self.UPDATE) from error
        return needed or _digest(self._document(
            self._definition, after_props)) != (
                self.data().get(DEFINITION))

    def handle_update(self, json_snippet: Any, tmpl_diff: Any,
                      prop_diff: Mapping[str, Any]) -> Replacement:
        updated = json_snippet.properties(self.properties_schema, self.context)
        document = self._document(self._definition, updated)
        if prop_diff.get(self.LEASE) == 0:
            raise group_document.invalid(self.name, self.LEASE, _(
                'the lease of an existing group cannot be removed: state a '
                'number of seconds, at least 1'))
        self._existing()
        if prop_diff.get(self.LEASE) is not None:
            self._client().groups.extend(
                self.resource_id, prop_diff[self.LEASE])
        former = self.data().get(DEFINITION)
        # If Heat stops this update, the group may get either definition. The
        # rollback must send the former one then.
        self.data_delete(DEFINITION)
        return Replacement(document, updated[self.OBJECTIVE], former,
                           updated[self.LEASE])

    def check_update_complete(self, replacement: Replacement) -> bool:
        try:
            complete = replacement.is_complete(
                self._client().groups, self.resource_id)
        except api_client.GroupUnchanged:
            if replacement.former is not None:
                self.data_set(DEFINITION, replacement.former)
            raise
        if complete:
            self.data_set(DEFINITION, _digest(replacement.document))
        return complete

    def handle_check(self) -> None:
        """Heat calls ``check_check_complete`` until the check has ended."""

    def check_check_complete(self, _token: Any) -> bool:
        return self._is_done(api_client.polled(self._existing))

    def handle_delete(self) -> str | None:
        if self.resource_id is None:
            return None
        try:
            self._client().groups.delete(self.resource_id)
        except Refused as error:
            if error.status == 404:
                return None
            if error.status != 409:
                raise
        return self.resource_id

    def check_delete_complete(self, group_id: str | None) -> bool:
        # An engine may still have worked on the group.
        return group_id is None or self.handle_delete() is None

    def needs_replace_failed(self) -> bool:
        """Whether Heat replaces the resource, and all servers that point at
        it, after an operation that failed.

        :raises GroupMissing: the group no longer exists, and may have servers
        """
        if not self.resource_id:
            return True
        try:
            current = self._existing()
        except api_client.GroupMissing:
            if self.action not in (self.CREATE, self.DELETE):
                raise
            # Servers are created after the group, and deleted before it.
            return True
        return current['status'] in ('unplaceable', 'error')

    def parse_live_resource_data(self, resource_properties: Any,
                                 resource_data: Any) -> dict[str, Any]:
        """Nothing, because the API shows no properties: its ``members`` are
        numbers, for example. ``_needs_update`` compares the definition."""
        return {}

    def _is_changed(self, current: Mapping[str, Any],
                    values: properties.Properties) -> bool:
        """Whether the group has been changed, and not by this resource, since
        Heat sent its definition."""
        return _digest(current['definition']) != self.data().get(
            DEFINITION) or values[self.OBJECTIVE] not in (
                None, current['objective'])

    def _show_resource(self) -> dict[str, Any]:
        return self._client().groups.get_complete(self.resource_id)

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        groups = self._client().groups
        if name == self.PLACEMENTS:
            return groups.placements(self.resource_id)
        if name == self.GAP:
            value = groups.get_complete(
                self.resource_id).get('objective_value')
            return value and value['gap']
        return groups.get(self.resource_id)[name]

    def _existing(self) -> dict[str, Any]:
        """The group.

        :raises GroupMissing: it no longer exists
        """
        try:
            return self._client().groups.get(self.resource_id)
        except Refused as error:
            if error.status != 404:
                raise
            raise api_client.GroupMissing(group=self.resource_id) from error

    def _is_done(self, current: Mapping[str, Any] | None) -> bool:
        """
        :param current: None: it is not known now
        """
        if (current is None or current['task'] is not None
                or current['status'] == 'planning'):
            return False
        if current['status'] not in GOOD:
            raise api_client.failure(current)
        return True

    def _document(self, stack: stk_defn.StackDefinition,
                  values: properties.Properties) -> dict[str, Any]:
        """The definition of the group.

        :raises StackValidationFailed: it is invalid
        """
        definition = {key: values[key] for key in (
            self.POLICIES, self.GROUPS, self.RELATIONSHIPS, self.MEMBERS)
            if values[key]}
        return group_document.complete(
            {'name': values[self.NAME] or f'{self.stack.name}-{self.name}',
             **definition}, stack, self.name)

    @property
    def _definition(self) -> stk_defn.StackDefinition:
        """The definition of the stack after the current operation."""
        return self._after or legacy_update.definition(self.stack)

    def _client(self) -> Client:
        return api_client.client(self.context)


def _digest(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(
        document, sort_keys=True).encode()).hexdigest()


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {'OS::NovaHolistic::Group': Group}
