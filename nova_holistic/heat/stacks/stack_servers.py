# SPDX-License-Identifier: Apache-2.0
"""Existing servers of an annotated stack, and their members."""

from collections.abc import Iterator, Sequence
import itertools

from heat.engine import resource
from heat.engine import stack as heat_stack
from oslo_config import cfg

from nova_holistic.documents.hot.conversion import Conversion
from nova_holistic.heat.members.counted_members import desired
from nova_holistic.heat.templates.template_servers import SERVER
from nova_holistic.model.stack_rules import path_of


def by_member(stack: heat_stack.Stack,
              conversion: Conversion) -> dict[str, str]:
    """The UUIDs of the servers by the paths of their members.

    The servers of a member whose number may change get its first numbers.
    """
    servers: dict[str, str] = {}
    for names, server in _servers(stack):
        path = path_of(conversion.rules, names)
        if path is None:
            continue
        if desired(conversion.document, path) is not None:
            path = next(each for each in (
                f'{path}-{number}' for number in itertools.count())
                if each not in servers)
        servers[path] = server
    return servers


def _servers(stack: heat_stack.Stack) -> Iterator[tuple[Sequence[str], str]]:
    """The names of the resources from the top-level stack down to each server,
    and its UUID."""
    # The operation of Heat loads the resources of its object later.
    loaded = heat_stack.Stack.load(stack.context, stack_id=stack.id)
    for server in loaded.iter_resources(cfg.CONF.max_nested_stack_depth):
        if server.has_interface(SERVER) and server.resource_id and (
                server.action != resource.Resource.DELETE
                and server.replaced_by is None):
            yield names_of(server), server.resource_id


def names_of(server: resource.Resource) -> list[str]:
    """The names of the resources from the top-level stack down to one."""
    return [*(name for name, _ in server.stack.path_in_stack() if name),
            server.name]
