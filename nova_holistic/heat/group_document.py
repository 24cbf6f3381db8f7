# SPDX-License-Identifier: Apache-2.0
"""The group document of a resource, with the members of its template."""

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine import stk_defn

from nova_holistic.documents.group import parse_group
from nova_holistic import exceptions
from nova_holistic.heat import derived_members, template_servers
from nova_holistic.policies import load_policy_types


def complete(definition: Mapping[str, Any],
             stack: stk_defn.StackDefinition, resource: str
             ) -> dict[str, Any]:
    """The definition. If it describes no member, the servers that point at
    the group become its members.

    :param resource: name of the group in the template
    :raises StackValidationFailed: the definition is invalid, or a server
        points at a member that it does not have
    """
    described = derived_members.describes_members(definition)
    servers = template_servers.read(stack, resource)
    document = dict(definition) if described else (
        derived_members.with_members(definition, servers))
    try:
        group = parse_group(document, load_policy_types())
    except exceptions.InvalidDocument as error:
        first, *others = error.mistakes
        raise invalid(resource, first.place, '; '.join(
            [first.message, *map(str, others)])) from error
    known = {path for member in group.all_members()
             for path in (member.path, member.description)}
    for server in servers:
        if server.path not in known:
            raise exception.StackValidationFailed(
                path=list(server.place), message=(
                    f'group {resource} has no member {server.path!r}'))
    return document


def invalid(resource: str, place: str,
            message: str) -> exception.StackValidationFailed:
    """
    :param place: in the group document
    """
    return exception.StackValidationFailed(
        path=['resources', resource, 'properties', *filter(None, [place])],
        message=message)
