# SPDX-License-Identifier: Apache-2.0
"""Reconciles the rows of claimed and built volumes with the volumes in the
database of Cinder."""

from datetime import datetime
import math
import threading
import time
from typing import Any

from cinder import context
from cinder.volume import volume_utils
from oslo_config import cfg
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.cinder import cinder_volumes, connections
from nova_holistic.cinder.cinder_volumes import CinderVolume
from nova_holistic.table.records import MemberState
from nova_holistic.table.volume_records import VolumeRecord, WITH_VOLUME

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


class ClaimedVolumes:
    """A claimed row becomes built when the report of its pool includes the
    volume. If the create has failed, or the volume is deleted, the row is
    planned again or released."""

    def __init__(self, host_manager: Any):
        """:param host_manager: Cinder's HostManager, for its reports"""
        self._host_manager = host_manager
        self._running = threading.Lock()
        self._last = -math.inf

    def reconcile(self) -> None:
        """Reconcile all rows, unless the last pass is too recent or still
        runs. An error is logged, because it must not prevent the report that
        this pass follows."""
        if not self._running.acquire(blocking=False):
            return
        try:
            now = time.monotonic()
            if now - self._last >= CONF.holistic_cinder.reconcile_interval:
                self._last = now
                self._reconcile()
        except exceptions.HolisticError as error:
            LOG.warning('Volumes of groups cannot be reconciled: %s', error)
        except Exception:
            LOG.exception('Volumes of groups cannot be reconciled')
        finally:
            self._running.release()

    def _reconcile(self) -> None:
        table = connections.get().table.volumes
        # Another region may share the table: its volumes are not here.
        rows = [row for row in table.in_states(WITH_VOLUME)
                if self._reported_at(row.pool) is not None]
        found = cinder_volumes.read(
            context.get_admin_context(), {row.volume_uuid for row in rows})
        for row in rows:
            self._reconcile_row(row, found.get(row.volume_uuid))

    def _reconcile_row(self, row: VolumeRecord,
                       volume: CinderVolume | None) -> None:
        table, now = connections.get().table.volumes, connections.get().clock()
        if volume is None:
            if table.deleted(row, now):
                self._log(row, 'does not exist')
        elif row.state != MemberState.CLAIMED:
            return
        elif volume.has_failed:
            if table.undo(row, now):
                self._log(row, 'has failed')
        elif self._is_reported(volume):
            table.built(row, now)

    def _is_reported(self, volume: CinderVolume) -> bool:
        """Whether the report of the pool includes the volume."""
        reported = volume.pool and self._reported_at(volume.pool)
        return bool(volume.completed_at and reported
                    and volume.completed_at <= reported)

    def _reported_at(self, pool: str) -> datetime | None:
        """The time of the last report of the pool; None without a report."""
        return self._host_manager.service_states.get(
            volume_utils.extract_host(pool), {}).get('timestamp')

    @staticmethod
    def _log(row: VolumeRecord, what: str) -> None:
        LOG.info('Volume %(volume)s of member %(member)s of group %(group)s '
                 '%(what)s: its place is free again',
                 {'volume': row.volume_uuid, 'member': row.path,
                  'group': row.group_uuid, 'what': what})
