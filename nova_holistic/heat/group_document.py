# SPDX-License-Identifier: Apache-2.0
"""The group document of a resource, with the members of its template."""

from collections.abc import Mapping, Sequence
import re
from typing import Any

from heat.common import exception
from heat.engine import stk_defn

from nova_holistic.documents.groups.group import parse_group
from nova_holistic import exceptions
from nova_holistic.heat.templates import (
    derived_members, pointing_servers, unknown_values)
from nova_holistic.heat.templates.derived_members import TemplateServer
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
    servers = pointing_servers.read(stack, resource)
    if not described:
        _must_be_members(definition, servers)
    document = dict(definition) if described else (
        derived_members.with_members(definition, servers))
    try:
        group = parse_group(document, load_policy_types())
    except exceptions.InvalidDocument as error:
        first, *further = error.mistakes
        message = '; '.join([first.message, *map(str, further)])
        server = None if described else _derived(
            document, first.place, servers)
        if server is not None:
            raise unknown_values.invalid(server.place, message) from error
        raise invalid(resource, first.place, message) from error
    paths = {path for member in group.all_members()
             for path in (member.path, member.description)}
    for server in servers:
        if server.path not in paths:
            raise unknown_values.invalid(
                server.place,
                f'group {resource} has no member {server.path!r}')
    return document


def _must_be_members(definition: Mapping[str, Any],
                     servers: Sequence[TemplateServer]) -> None:
    """:raises StackValidationFailed: the path of a server is a nested group"""
    groups = set(derived_members.group_paths(definition, ''))
    for server in servers:
        names = server.path.split('/')
        groups.update('/'.join(names[:number])
                      for number in range(1, len(names)))
    for server in servers:
        if server.path in groups:
            raise unknown_values.invalid(
                server.place, f'{server.path!r} is a nested group')


def _derived(document: Mapping[str, Any], place: str,
             servers: Sequence[TemplateServer]) -> TemplateServer | None:
    """The server whose member is at a position of the document."""
    names: list[str] = []
    inside: Any = document
    for kind, number in re.findall(r'(groups|members)\[(\d+)\]', place):
        inside = inside[kind][int(number)]
        if not isinstance(inside, Mapping):
            return None
        names.append(str(inside.get('name')))
        if kind == 'members':
            return next((each for each in servers
                         if each.path == '/'.join(names)), None)
    return None


def invalid(resource: str, place: str,
            message: str) -> exception.StackValidationFailed:
    """
    :param place: in the group document
    """
    return unknown_values.invalid(
        ('resources', resource, 'properties', *filter(None, [place])), message)
