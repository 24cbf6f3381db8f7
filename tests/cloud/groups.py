# SPDX-License-Identifier: Apache-2.0
"""Groups in the API, and their servers in Nova."""

import dataclasses
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check
from tools.cloud.waiting import wait_for


@dataclasses.dataclass(frozen=True)
class LiveGroup:
    """:ivar shown: the document of the group in the API"""

    client: Client
    shown: dict[str, Any]

    @property
    def id(self):
        return self.shown['id']

    @property
    def name(self):
        return self.shown['name']

    def definition(self):
        return self.client.groups.get(self.id)['definition']

    def placements(self):
        """The API's placement of each member by its path."""
        return {place['member']: place
                for place in self.client.groups.placements(self.id)}

    def pointer(self, member):
        return {'holistic_group': self.id, 'holistic_member': member}

    def delete(self):
        """Delete the group, even if an engine works on it, because a test may
        have failed. Another client may delete it at the same time: Heat
        deletes the group of a stack after the stack is DELETE_COMPLETE."""
        wait_for(f'group {self.name} to be deleted', self._is_deleted,
                 pause=1)

    def _is_deleted(self):
        """Whether the API has deleted the group. The API may respond with 503
        although the group is deleted, while services connect to a restarted
        broker."""
        try:
            self.client.groups.wait(self.id)
            self.client.groups.delete(self.id)
        except Refused as error:
            if error.status != 404 and not error.is_transient:
                raise
            return error.status == 404
        return True


def every_group(session):
    """The groups of all projects. The session has administrator rights."""
    client = Client(session)
    return [LiveGroup(client, group)
            for group in client.groups.list(all_projects=True)]


def broken(definition, snapshot, hosts):
    """The policies of the group that its members violate.

    :param hosts: the host of each member path, as Nova reports it
    """
    group = parse_group(definition, load_policy_types())
    return check(group, snapshot, hosts, placed=hosts)
