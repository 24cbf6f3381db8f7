# SPDX-License-Identifier: Apache-2.0
"""Whether Nova evacuates an existing server, or may move it without the
policies of its group."""

from nova.compute import task_states
import nova.conf
from nova import context as nova_context
from nova import exception
from nova import objects
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.scheduler import nova_errors

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

NONE, EVACUATE, ALL = 'none', 'evacuate', 'all'
"""Values of [holistic] unchecked_moves."""


def may_move_unchecked(instance_uuid: str) -> bool:
    """Whether the server may be moved although the policies of its group
    cannot be read, according to [holistic] unchecked_moves.

    False for a server that does not exist yet, and if Nova's database does not
    answer.
    """
    allowed = CONF.holistic.unchecked_moves
    if allowed == NONE:
        return False
    try:
        instance = _instance(instance_uuid)
    except exceptions.HolisticError:
        return False
    if instance is None or (
            allowed == EVACUATE and not _is_evacuated(instance)):
        return False
    LOG.warning(
        'The policies of its group cannot be read, and instance %(instance)s '
        'is moved without them, because [holistic] unchecked_moves = '
        '%(allowed)s. The move may violate hard policies of the group',
        {'instance': instance_uuid, 'allowed': allowed})
    return True


def is_evacuation(instance_uuid: str) -> bool:
    """Whether Nova is rebuilding the server on another host.

    A server that is rebuilt on the same host has the same task state. Callers
    must not pass its UUID.

    :raises HolisticError: Nova's database does not answer
    """
    instance = _instance(instance_uuid)
    return instance is not None and _is_evacuated(instance)


def _is_evacuated(instance: 'objects.Instance') -> bool:
    # nova.compute.api.API.evacuate sets it before it calls the conductor.
    return instance.task_state == task_states.REBUILDING


def _instance(uuid: str) -> 'objects.Instance | None':
    context = nova_context.get_admin_context()
    with nova_errors.as_refusals():
        try:
            mapping = objects.InstanceMapping.get_by_instance_uuid(
                context, uuid)
            if mapping.cell_mapping is None:
                return None
            with nova_context.target_cell(
                    context, mapping.cell_mapping) as target:
                return objects.Instance.get_by_uuid(
                    target, uuid, expected_attrs=[])
        except exception.NotFound:
            return None
