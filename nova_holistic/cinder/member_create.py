# SPDX-License-Identifier: Apache-2.0
"""The create of a volume with a pointer: the claim of its row, and the end of
the claim if Cinder refuses the planned pool."""

from collections.abc import Collection
from typing import Any

from cinder.volume import volume_utils
from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.cinder.connections import Connections
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.table import errors
from nova_holistic.table.records import MemberState
from nova_holistic.table.volume_records import VolumeRecord

LOG = logging.getLogger(__name__)

_DIFFERENT = 'the request does not match the description of the member: '


class MemberCreate:
    """One attempt of Cinder to schedule a volume with a pointer.

    :ivar row: the row of the volume; None before ``claim``
    """

    def __init__(self, connections: Connections, pointer: Pointer,
                 request_spec: Any):
        """:param request_spec: Cinder's RequestSpec"""
        self._volumes = connections.table.volumes
        self._clock = connections.clock
        self._pointer = pointer
        self._spec = request_spec
        self.row: VolumeRecord | None = None

    def claim(self) -> str:
        """Claim the row, and return its pool. A volume that has its row
        already gets it again, because Cinder repeats requests.

        :raises RequestRefused: the request does not match the description
        :raises ClaimRefused: no row can be claimed
        :raises TableError: the table does not answer
        """
        project = self._spec['volume_properties']['project_id']
        target = self._pointer.group, self._pointer.member
        try:
            self._must_match(self._volumes.find(*target, project))
        except errors.MemberUnknown as error:
            raise RequestRefused('group {} has no volume {!r}'.format(
                *target)) from error
        self.row = self._volumes.claim(
            *target, self._spec['volume_id'], self._clock(), project).row
        crash_points.reached('cinder.row-claimed')
        # A row that was claimed without being read may not match the request.
        try:
            self._must_match(self.row)
        except RequestRefused:
            self.undo()
            raise
        return self.row.pool

    def undo(self, refused: bool = False) -> None:
        """Undo the claim. If this fails, a reconciliation undoes it later.

        :param refused: whether Cinder refuses the planned pool, so that an
            engine plans the member in another one
        """
        row = self.row
        if row is None or row.state != MemberState.CLAIMED:
            # The volume of a built row exists: the request is a repetition.
            return
        try:
            self._volumes.undo(row, self._clock(), refused)
        except exceptions.HolisticError as error:
            LOG.warning('Member %(member)s of group %(group)s stays claimed '
                        'for volume %(volume)s: %(error)s',
                        {'member': row.path, 'group': row.group_uuid,
                         'volume': row.volume_uuid, 'error': error})

    def refused(self, state: Any, tried: Collection[str]) -> RequestRefused:
        """Undo the claim because Cinder did not select the planned pool.

        :param state: state of the pool; None if Cinder does not use it
        :param tried: pools that have failed to create the volume
        :returns: the error for the user
        """
        message = self._other_cause(state, tried)
        self.undo(refused=message is None)
        return RequestRefused(
            message or 'its planned pool no longer takes it: create the '
            'volume again when its member has another pool')

    def _other_cause(self, state: Any, tried: Collection[str]) -> str | None:
        """Why the pool is not selected if another pool for the member would
        not help; None otherwise."""
        pool = self.row.pool
        if state is None:
            return ('the service of its planned pool is down or disabled: '
                    'create the volume again when it is up')
        zone = state.service['availability_zone']
        asked = self._spec['volume_properties']['availability_zone']
        if asked and asked != zone:
            return (f'{_DIFFERENT}it asks for availability zone {asked}, and '
                    f'the planned pool is in {zone}')
        source = self._spec.get('resource_backend')
        if source and source not in (pool, volume_utils.extract_host(pool)):
            return ('its source is not in its planned pool: create the volume '
                    'without a source, or without the pointer')
        if pool in tried:
            return ('its planned pool has failed to create it: create the '
                    'volume again when the pool is repaired')
        return None

    def _must_match(self, row: VolumeRecord) -> None:
        """
        :raises RequestRefused: size or volume type of the request differ from
            the description
        """
        size = self._spec['volume_properties']['size']
        if size != row.volume.size_gb:
            raise RequestRefused(
                f'{_DIFFERENT}it asks for {size} GiB, but the description '
                f'states {row.volume.size_gb} GiB')
        wanted = row.volume.volume_type
        found = _type_name(self._spec.get('volume_type'))
        if wanted is not None and found != wanted:
            raise RequestRefused(
                f'{_DIFFERENT}it asks for volume type {found}, but the '
                f'description states {wanted}')


def _type_name(volume_type: Any) -> str | None:
    return volume_type and volume_type['name']
