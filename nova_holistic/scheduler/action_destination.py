# SPDX-License-Identifier: Apache-2.0
"""The destination of a move that an engine carries out after an update.

Nova's API cannot name the destination of a resize. The engine writes it to the
placement table before it requests the resize. Nova's filters, and the policies
of the group, still check this host.
"""

from nova import objects
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler import nova_errors

LOG = logging.getLogger(__name__)


def find(connections: Connections, instance_uuid: str) -> str | None:
    """The name of the host; None if no engine is moving the server, or if the
    table does not answer. In the latter case, Nova may choose another host,
    and the engine then does not confirm the resize."""
    try:
        with nova_errors.as_refusals():
            return connections.table.actions.destination(instance_uuid)
    except exceptions.HolisticError as error:
        LOG.warning('The action of an engine on instance %(instance)s '
                    'cannot be read: %(error)s',
                    {'instance': instance_uuid, 'error': error})
        return None


def with_destination(connections: Connections, spec: 'objects.RequestSpec',
                     instance_uuid: str) -> 'objects.RequestSpec':
    """The request of a move, with the destination that the engine has chosen.

    :returns: the same object if no engine is moving the server
    """
    host = find(connections, instance_uuid)
    if host is None:
        return spec
    changed = spec.obj_clone()
    found = ('requested_destination' in changed
             and changed.requested_destination)
    destination = found or objects.Destination()
    destination.host, destination.node = host, None
    changed.requested_destination = destination
    return changed
