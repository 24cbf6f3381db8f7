# SPDX-License-Identifier: Apache-2.0
"""The objects that the hints of a create name instead of a pointer: a server
group of Nova, or the position of the server in a Heat stack.

Heat sends the position if its option ``stack_scheduler_hints`` is set.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oslo_utils import uuidutils

from nova_holistic.table.coordination.bindings import Hinted, stack_target

SERVER_GROUP_HINT = 'group'
ROOT_STACK_HINT = 'heat_root_stack_id'
PATH_HINT = 'heat_path_in_stack'
RESOURCE_HINT = 'heat_resource_name'
MAX_NAME_LENGTH = 255
"""Maximum number of characters in the name of a stack or a resource."""


def server_group_of(hints: Mapping | None) -> str | None:
    """The UUID of the server group in a server's scheduler hints; None if the
    hint is missing or is not one UUID."""
    values = _values(hints or {}, SERVER_GROUP_HINT)
    if len(values) != 1 or not uuidutils.is_uuid_like(values[0]):
        return None
    return str(values[0]).lower()


def names_binding(hints: Mapping | None) -> bool:
    """Whether the hints name a server group or a Heat stack."""
    return bool(hints) and (ROOT_STACK_HINT in hints
                            or server_group_of(hints) is not None)


def hinted(hints: Mapping, project_id: str) -> Hinted | None:
    """The server group and the position in a Heat stack in scheduler hints.

    :param project_id: project of the request
    :returns: None if the hints name neither
    """
    names, stacks = _names(hints), ()
    if names:
        top, *names = names
        stacks = tuple(
            stack_target(project_id, stack)
            for stack in (_values(hints, ROOT_STACK_HINT)[0], top))
    found = Hinted(server_group_of(hints), stacks, tuple(names))
    return found if found.server_group or found.stacks else None


def _names(hints: Mapping) -> list[str]:
    """Names of the top-level stack, of the resources of the nested stacks, and
    of the resource of the server; empty if the hints are missing or not
    valid."""
    root, path, resource = (_values(hints, name) for name in (
        ROOT_STACK_HINT, PATH_HINT, RESOURCE_HINT))
    texts = [*root, *path, *resource]
    if len(root) != 1 or len(resource) != 1 or not path or not all(
            isinstance(text, str) and text.isprintable()
            and len(text) <= 2 * MAX_NAME_LENGTH + 1 for text in texts):
        return []
    top, *nested = path
    # A nested stack has the resource that creates it, and its own name.
    return [top, *(text.rpartition(',')[0] for text in nested), *resource]


def _values(hints: Mapping, name: str) -> Sequence[Any]:
    found = hints.get(name)
    # Nova turns a single string into a list on its way to the scheduler.
    values = [found] if isinstance(found, str) else found or []
    return values if isinstance(values, list | tuple) else []
