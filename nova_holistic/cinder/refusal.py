# SPDX-License-Identifier: Apache-2.0
"""Errors by which the create of a volume with a pointer is refused, and the
property of the volume that states the reason."""

from cinder import exception
from cinder import objects
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.scheduler.claim.request_refusal import for_user

LOG = logging.getLogger(__name__)

FAULT = 'holistic_fault'
"""Property of a volume whose create is refused. Cinder's own messages to users
are a fixed list, so none of them can state the reason."""

LONGEST = 255
"""Maximum number of characters of a property in Cinder."""


def write_fault(context, volume_uuid: str,
                error: exceptions.HolisticError) -> str:
    """Write the reason to the volume.

    :returns: the text for the user
    """
    text = for_user(error, context.request_id)
    try:
        volume = objects.Volume.get_by_id(context.elevated(), volume_uuid)
        volume.metadata = {**volume.metadata, FAULT: text[:LONGEST]}
        volume.save()
    except exception.CinderException as failure:
        LOG.warning('The reason cannot be written to volume %(volume)s: '
                    '%(error)s', {'volume': volume_uuid, 'error': failure})
    return text
