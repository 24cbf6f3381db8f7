# SPDX-License-Identifier: Apache-2.0
"""The group of an annotated stack: created or revised before the operation of
Heat, and released or deleted after it."""

from collections.abc import Mapping
from typing import Any

from heat.engine import stack as heat_stack

from nova_holistic.client.client import Client
from nova_holistic.documents.groups.adoption import with_adoptions
from nova_holistic.documents.hot.conversion import Conversion
from nova_holistic.heat import api_client
from nova_holistic.heat.group_revision import replace
from nova_holistic.heat.stacks import stack_servers
from nova_holistic.model.stack_rules import StackRule

_LONGEST_NAME = 200
_PLANNED = ('planned', 'building', 'complete', 'degraded')
"""Statuses of a new group that has a plan. All but the first require that it
has adopted servers, which may violate its policies."""


class StackGroup:
    """Finds the group by its name, which contains the ID of the stack."""

    def __init__(self, client: Client, stack: heat_stack.Stack):
        self._groups = client.groups
        self._stack = stack

    @property
    def name(self) -> str:
        return f'{self._stack.name[:_LONGEST_NAME]}-{self._stack.id}'

    def find(self) -> str | None:
        """The ID of the group, if it exists."""
        return next((group['id'] for group in self._groups.list(name=self.name)
                     if group['name'] == self.name), None)

    def prepare(self, conversion: Conversion) -> None:
        """Plan the members, and let the servers of the stack become members.

        If there is no group yet, the existing servers of the stack become
        members where they are.

        :raises GroupFailed: no plan exists; there is no group
        :raises GroupUnchanged: no plan exists for the new definition
        """
        document = {**conversion.document, 'name': self.name}
        group_id = self.find()
        if group_id is None:
            servers = stack_servers.by_member(self._stack, conversion)
            group_id = self._create(with_adoptions(document, servers)
                                    if servers else document)
        else:
            self._update(group_id, document)
        self._groups.bind_stack(group_id, self._stack.id, [
            {'resource': rule.resource, 'member': rule.member}
            for rule in conversion.rules])

    def rules(self, group_id: str) -> list[StackRule]:
        """The rules that map the servers of the stack to members."""
        return [StackRule(rule['resource'], rule['member'])
                for binding in self._groups.bindings(group_id)
                if binding['target'] == self._stack.id
                for rule in binding.get('rules', ())]

    def release(self) -> None:
        """Free the capacity of the members that have no server."""
        group_id = self.find()
        if group_id is None:
            return
        group = self._groups.wait(group_id)
        if group['members'].get('planned'):
            self._groups.release(group_id)

    def delete(self) -> None:
        """Delete the group, if it exists; its servers are not affected."""
        group_id = self.find()
        if group_id is not None:
            self._groups.wait(group_id)
            self._groups.delete(group_id)

    def _create(self, document: Mapping[str, Any]) -> str:
        lease = self._stack.timeout_secs()
        created = self._groups.create(document, lease=lease)
        planned = self._groups.wait(created['id'], lease)
        if planned['status'] not in _PLANNED:
            self._groups.delete(created['id'])
            raise api_client.failure(planned)
        return created['id']

    def _update(self, group_id: str, document: Mapping[str, Any]) -> None:
        lease = self._stack.timeout_secs()
        replace(self._groups, group_id, document, lease)
        self._groups.extend(group_id, lease)
