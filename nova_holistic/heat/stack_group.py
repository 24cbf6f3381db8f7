# SPDX-License-Identifier: Apache-2.0
"""The group of an annotated stack: created or revised before the operation of
Heat, and released or deleted after it."""

from collections.abc import Mapping
from typing import Any

from heat.engine import stack as heat_stack

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from nova_holistic.documents.hot.conversion import Conversion
from nova_holistic.heat import api_client

_LONGEST_NAME = 200
_ATTEMPTS = 5
_CHANGED = (409, 412)
"""Statuses of a response if a group has changed since it was read."""


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
        return next((each['id'] for each in self._groups.list(name=self.name)
                     if each['name'] == self.name), None)

    def prepare(self, wanted: Conversion) -> None:
        """Plan the members, and let the servers of the stack become members.

        :raises GroupFailed: no plan exists; there is no group
        :raises GroupUnchanged: no plan exists for the new definition
        """
        document = {**wanted.document, 'name': self.name}
        group_id = self.find()
        if group_id is None:
            group_id = self._create(document)
        else:
            self._update(group_id, document)
        self._groups.bind_stack(group_id, self._stack.id, [
            {'resource': rule.resource, 'member': rule.member}
            for rule in wanted.rules])

    def release(self) -> None:
        """Free the capacity of the members that have no server."""
        group_id = self.find()
        if group_id is None:
            return
        found = self._groups.wait(group_id)
        if found['members'].get('planned'):
            self._groups.release(group_id)

    def delete(self) -> None:
        """Delete the group, if it exists; its servers are not affected."""
        group_id = self.find()
        if group_id is not None:
            self._groups.wait(group_id)
            self._groups.delete(group_id)

    def _create(self, document: Mapping[str, Any]) -> str:
        lease = self._stack.timeout_secs()
        made = self._groups.create(document, lease=lease)
        found = self._groups.wait(made['id'], lease)
        if found['status'] != 'planned':
            self._groups.delete(made['id'])
            raise api_client.GroupFailed(
                status=found['status'], reasons=api_client.reasons(found))
        return made['id']

    def _update(self, group_id: str, document: Mapping[str, Any]) -> None:
        lease = self._stack.timeout_secs()
        found = self._revised(group_id, document)
        if found['reasons']:
            raise api_client.GroupUnchanged(
                reasons=api_client.reasons(found))
        self._groups.extend(group_id, lease)

    def _revised(self, group_id: str,
                 document: Mapping[str, Any]) -> dict[str, Any]:
        """The group after the change, or with the reasons against it."""
        for last in [False] * (_ATTEMPTS - 1) + [True]:
            before = self._groups.wait(group_id)
            try:
                self._groups.update(group_id, document, before['revision'])
                break
            except Refused as error:
                # Another operation has changed the group.
                if last or error.status not in _CHANGED:
                    raise
        return self._groups.wait(group_id, self._stack.timeout_secs())
