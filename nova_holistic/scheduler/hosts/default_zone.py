# SPDX-License-Identifier: Apache-2.0
"""A member may move within its own zone, independent of Nova's default zone.

Nova's API writes ``[DEFAULT] default_schedule_zone`` into the request of each
server that names no zone, and keeps it for the moves of the server. If a
member is planned in another zone, Nova alone would move it only to the default
zone. A user may name a host in any zone.
"""

import nova.conf
from nova import objects

from nova_holistic.scheduler import action_destination, connections
from nova_holistic.scheduler.policies import membership

CONF = nova.conf.CONF


def with_member_zone(spec: 'objects.RequestSpec', host_manager
                     ) -> 'objects.RequestSpec':
    """The request of a move, with the zone that the member has, or with the
    zone of its destination if an engine or the request names one.

    :returns: the same object if its zone is not the default zone, or if the
        member is in that zone
    """
    default = CONF.default_schedule_zone
    if not default or spec.availability_zone != default:
        return spec
    found = membership.find(connections.get(), spec)
    if found is None:
        return spec
    destination = (found.own.instance_uuid and action_destination.find(
        connections.get(), found.own.instance_uuid)) or _requested_host(spec)
    own = (_zone(destination, host_manager) if destination
           else found.own.member.requirements.availability_zone
           or _zone(found.own.place.host, host_manager))
    if own == default:
        return spec
    changed = spec.obj_clone()
    changed.availability_zone = own
    return changed


def _requested_host(spec: 'objects.RequestSpec') -> str | None:
    destination = ('requested_destination' in spec
                   and spec.requested_destination)
    return (destination.host if destination and 'host' in destination
            else None)


def _zone(host: str, host_manager) -> str:
    zones = {aggregate.availability_zone for aggregate
             in host_manager._get_aggregates_info(host)} - {None}
    return next(iter(zones), CONF.default_availability_zone)
