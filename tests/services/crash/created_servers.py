# SPDX-License-Identifier: Apache-2.0
"""Servers that an engine creates. They remain if the engine is killed."""

import json
import pathlib
import uuid

from nova_holistic.boot.errors import CreateRefused
from nova_holistic.boot.rights import Right
from nova_holistic.boot.user_servers import TaggedServer, UserServer
from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT
from nova_holistic.reconcile.instances import InstanceView

REFUSED = 'refused'
"""Key of the metadata with the name of a server that Nova refuses."""
SERVER = {'imageRef': '155d900f-4e14-4e4c-a73d-069cbf4541e6',
          'flavorRef': 'small', 'networks': 'none'}


class CreatedServers:
    """The servers of all processes, in a file. Each server is active
    immediately.

    :ivar claim: called with group, path and server, like the scheduler
    """

    def __init__(self, path, parts, claim):
        self._path = pathlib.Path(path)
        self._parts = parts
        self.claim = claim

    def views(self):
        """The servers as Nova reports them to an administrator."""
        return {server: InstanceView(server, each['host'], 'ACTIVE',
                                     launched=True)
                for server, each in self._read().items()
                if not each['deleted']}

    def deleted(self):
        return {server for server, each in self._read().items()
                if each['deleted']}

    # The methods of ``UserServers`` that an engine calls.

    def create(self, body):
        metadata = body['server']['metadata']
        if metadata.get(REFUSED) == body['server']['name']:
            raise CreateRefused('HTTP 400: it is refused')
        server, hints = str(uuid.uuid4()), body['os:scheduler_hints']
        group, path = hints[GROUP_HINT], hints[MEMBER_HINT]
        self.claim(self._parts, group, path, server)
        row = self._parts.table.member_of_instance(server)
        self._write(server, host=row.place.host, group=group,
                    metadata=metadata, deleted=False)
        return server

    def get(self, server):
        record = self._read().get(server)
        if record is None or record['deleted']:
            return None
        return UserServer(server, 'ACTIVE')

    def delete(self, server):
        record = self._read()[server]
        if not record['deleted']:
            self._parts.holds.drop([server])
            self._write(server, **{**record, 'deleted': True})

    def of_group(self, group):
        return [TaggedServer(server, 'ACTIVE', each['metadata'])
                for server, each in self._read().items()
                if each['group'] == group and not each['deleted']]

    def flavor_id(self, name):
        return name

    # The methods of ``Rights``.

    def open(self, record):
        return Right(self, lambda: True)

    def grant(self, user, group_uuid, now):
        return 'encrypted'

    def _read(self):
        if not self._path.exists():
            return {}
        return json.loads(self._path.read_text())

    def _write(self, server, **fields):
        self._path.write_text(json.dumps({**self._read(), server: fields}))
        instances = self._parts.instances
        instances.views.update(self.views())
        for each in self.deleted():
            instances.delete(each)
