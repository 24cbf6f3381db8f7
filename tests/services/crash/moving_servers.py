# SPDX-License-Identifier: Apache-2.0
"""Migrations that continue when the process that requested them is killed."""

from dataclasses import replace
import json
import pathlib

from nova_holistic.reconcile.instances import MoveView
from tests.services.placement_calls import MICROVERSION
from tests.world.instances import KnownInstances


class MovingServers(KnownInstances):
    """A file contains the destination of each server. A move ends when the
    state of the server is read for the second time after the request.

    :ivar path: path of the file
    """

    def __init__(self, path, hosts, placement):
        """
        :param hosts: UUID of each host's provider, by the name of the host
        :param placement: PlacementCalls
        """
        super().__init__()
        self.path = pathlib.Path(path)
        self._hosts = hosts
        self._placement = placement

    def live_migrate(self, instance_uuid, host):
        source = self.view(instance_uuid).host
        self._write(instance_uuid, {
            'source': source, 'host': host, 'looks': 0})

    def migrate(self, instance_uuid, host):
        """Start a cold migration, which must be confirmed."""
        source = self.view(instance_uuid).host
        self._write(instance_uuid, {
            'source': source, 'host': host, 'looks': 0, 'to_confirm': True})

    def confirm(self, instance_uuid):
        """Confirm the migration. A second request finds nothing to confirm."""
        move = self._moves()[instance_uuid]
        assert move['to_confirm']
        self._write(instance_uuid, {**move, 'to_confirm': False})

    def get(self, instance_uuid):
        """The server. Reading a server that is moving continues its move."""
        move = self._moves().get(instance_uuid)
        view = self.view(instance_uuid)
        if move and move['looks'] < 2:
            self._write(instance_uuid, {**move, 'looks': move['looks'] + 1})
            if move['looks']:
                change_host(self._placement, instance_uuid,
                            self._hosts[move['host']])
                return self.view(instance_uuid)
        return view

    def view(self, instance_uuid):
        """The current state of the server."""
        view = self.views.get(instance_uuid)
        move = self._moves().get(instance_uuid)
        if view is None or move is None:
            return view
        if move['looks'] < 2:
            return replace(view, host=move['source'], status='MIGRATING')
        if move.get('to_confirm'):
            return replace(view, host=move['host'], status='VERIFY_RESIZE')
        return replace(view, host=move['host'])

    def move(self, instance_uuid):
        move = self._moves().get(instance_uuid)
        if move is None or (move['looks'] > 1
                            and not move.get('to_confirm')):
            return None
        return MoveView(move['source'], move['host'])

    def _moves(self):
        if not self.path.exists():
            return {}
        return json.loads(self.path.read_text())

    def _write(self, instance_uuid, move):
        self.path.write_text(json.dumps(
            {**self._moves(), instance_uuid: move}))


def change_host(placement, server, provider):
    """Move the allocation of a server to another host."""
    allocation = placement.allocation(server)
    (old,) = allocation['allocations'].values()
    allocation['allocations'] = {provider: {'resources': old['resources']}}
    placement.adapter.put(f'/allocations/{server}', json=allocation,
                          microversion=MICROVERSION)
