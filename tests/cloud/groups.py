# SPDX-License-Identifier: Apache-2.0
"""Groups, as their client shows them, and what became of them in Nova."""

import dataclasses
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from nova_holistic.documents.group import parse_group
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check
from tools.cloud.waiting import wait_for


@dataclasses.dataclass(frozen=True)
class LiveGroup:
    """
    :ivar shown: the API's document
    """

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
        """Member path to what the API tells of it."""
        return {place['member']: place
                for place in self.client.groups.placements(self.id)}

    def pointer(self, member):
        return {'holistic_group': self.id, 'holistic_member': member}

    def delete(self):
        """Also where an engine is still at it: a test may have failed."""
        self.client.groups.wait(self.id)
        wait_for(f'group {self.name} to be deleted', self._is_deleted,
                 pause=1)

    def _is_deleted(self):
        """Whether the API has deleted it. The answer is 503 while services
        connect to a broker that was restarted, and the group may be gone."""
        try:
            self.client.groups.delete(self.id)
        except Refused as error:
            if error.status != 404 and not error.passing:
                raise
            return error.status == 404
        return True


def every_group(session):
    """Groups of all projects; the session is an admin's."""
    client = Client(session)
    return [LiveGroup(client, shown)
            for shown in client.groups.list(all_projects=True)]


def broken(definition, snapshot, hosts):
    """Which of the group's policies do not hold, where its members are.

    :param hosts: member path to host, as Nova tells it
    """
    group = parse_group(definition, load_policy_types())
    return check(group, snapshot, hosts, placed=hosts)
