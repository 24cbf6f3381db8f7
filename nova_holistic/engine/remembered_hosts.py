# SPDX-License-Identifier: Apache-2.0
"""Hosts that only the placement table knows."""

from collections.abc import Collection
from dataclasses import replace

from nova_holistic.model.snapshot import Host, Snapshot


def with_remembered(snapshot: Snapshot,
                    remembered: Collection[Host]) -> Snapshot:
    """The snapshot with hosts that it has no longer, disabled."""
    missing = {host.name: replace(host, enabled=False)
               for host in remembered}
    for host in snapshot.hosts:
        missing.pop(host.name, None)
    return replace(snapshot, hosts=(
        *snapshot.hosts, *missing.values())) if missing else snapshot
