# SPDX-License-Identifier: Apache-2.0
"""The connections of one scheduler process; a forked worker has its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
import threading

import nova.conf
from nova import utils
from nova_holistic import conf, policies, topology
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory import http_environment
from nova_holistic.model.policy import Policy
from nova_holistic.observers import observe
from nova_holistic.scheduler.hosts.host_cache import HostCache
from nova_holistic.scheduler.policies.group_positions import GroupPositions
from nova_holistic.scheduler.policies.member_hosts import MemberHosts
from nova_holistic.scheduler.policies.reservation_cache import ReservationCache
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.store import PlacementTable
from nova_holistic.topology.base import TopologyDriver

CONF = nova.conf.CONF

_lock = threading.Lock()
_connections: 'Connections | None' = None


@dataclass(frozen=True, slots=True)
class Connections:
    """The objects outside Nova that a lookup uses.

    :ivar placement: keystoneauth adapter for Placement with Nova's own rights
    :ivar policy_types: policy classes by the ``type`` in documents
    :ivar clock: returns the time of the table's database in naive UTC
    :ivar reserved: cache of the reservations of groups
    :ivar hosts: cache of all hosts
    :ivar positions: cache of the positions of the members of groups
    :ivar member_hosts: cache of their hosts, with numbers of members
    """

    table: PlacementTable
    holds: HoldClient
    placement: object
    topology: TopologyDriver
    policy_types: Mapping[str, type[Policy]]
    clock: Callable[[], datetime]
    reserved: ReservationCache = field(default_factory=ReservationCache)
    hosts: HostCache = field(default_factory=HostCache)
    positions: GroupPositions = field(default_factory=GroupPositions)
    member_hosts: MemberHosts = field(default_factory=MemberHosts)


def get() -> Connections:
    """The connections of this process, which the first call creates."""
    global _connections
    found = _connections
    if found is not None:
        # One request calls this a dozen times: the lock would take time.
        return found
    with _lock:
        if _connections is None:
            _connections = _make()
        return _connections


def reset() -> None:
    """Discard the connections, so that a forked process does not use those of
    its parent."""
    global _connections
    with _lock:
        _connections = None


def placement_adapter():
    """A new keystoneauth adapter with the options in [placement] of nova.conf.
    It keeps its connections and its token."""
    adapter = utils.get_ksa_adapter('placement')
    http_environment.skip_environment_lookups(adapter.session)
    return adapter


def check_options() -> None:
    """Ensure that the options allow connections, without making any.

    :raises oslo_config.cfg.ConfigFileValueError: the value of an option is
        invalid
    :raises HolisticError: the options of the topology or of the holds are
        invalid
    """
    conf.register_opts(CONF)
    conf.check_values(CONF, in_nova=True)
    topology.load_topology(CONF)
    HoldClient.from_conf(CONF, None)


def _make() -> Connections:
    conf.register_opts(CONF)
    placement = placement_adapter()
    table = PlacementTable.from_conf(CONF, 'scheduler')
    observe(CONF, table.database, 'scheduler')
    return Connections(
        table=table,
        holds=HoldClient.from_conf(CONF, placement),
        placement=placement,
        topology=topology.load_topology(CONF),
        policy_types=policies.load_policy_types(),
        clock=DatabaseClock(table.database))
