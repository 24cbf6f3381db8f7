# SPDX-License-Identifier: Apache-2.0
"""Binds stacks of Heat to members, with rules for the servers of the stack.

Nova and Heat are not called, because the stack need not exist yet.
"""

from collections.abc import Sequence
from datetime import datetime
import re

from nova_holistic.engine.binding.binder import bindable
from nova_holistic.engine.binding.possible_members import possible_members
from nova_holistic import exceptions
from nova_holistic.messaging import errors
from nova_holistic.model.members.member import Member
from nova_holistic.model.stack_rules import ANY, below, StackRule
from nova_holistic.table.coordination.bindings import (
    Binding, BindingKind, stack_target)
from nova_holistic.table.database import Duplicate
from nova_holistic.table import errors as table_errors
from nova_holistic.table.store import PlacementTable


def bind(table: PlacementTable, wanted: Binding) -> Binding:
    """Bind a stack to a path: creates of the servers of the stack then count
    as creates of members. If the stack is already bound to this path, its
    rules are replaced.

    :param wanted: the binding without its target, which depends on the project
    :raises GroupUnknown: no such group exists
    :raises MemberUnknown: the group has no such path
    :raises InvalidDocument: the member of a rule is not in the group, or has
        more wildcards than the resource of the rule
    :raises BindingRefused: the stack is bound to another path, the path is
        bound to another stack, or the members have no planned places
    :raises GroupBusy: an engine works on the group
    """
    record, members = bindable(table, wanted.group_uuid)
    _must_exist(wanted, [*(row.member for row in members),
                         *possible_members(record)])
    binding = Binding(
        wanted.kind, stack_target(record.project_id, wanted.stack or ''),
        record.uuid, wanted.path, wanted.created_at, wanted.stack,
        wanted.rules)
    known = table.bindings.find(BindingKind.HEAT_STACK, binding.target)
    if known is not None and (known.group_uuid, known.path) != (
            binding.group_uuid, binding.path):
        raise errors.BindingRefused(
            f'Heat stack {binding.stack} is bound to '
            f'{_named(known)} of group {known.group_uuid}')
    if known is not None and known.rules == binding.rules:
        return known
    try:
        written = table.bindings.add(binding, [binding.target])
    except Duplicate as error:
        raise errors.BindingRefused(
            f'{_named(binding)} of group {binding.group_uuid} is bound to '
            'another Heat stack') from error
    if not written:
        raise errors.GroupBusy(
            f'group {binding.group_uuid} is being changed')
    return binding


def requested_binding(group_uuid: str, path: str, stack: str,
                      rules: Sequence[StackRule], now: datetime) -> Binding:
    """The requested binding without its target. It is not in the table yet.

    :param now: naive UTC
    """
    return Binding(BindingKind.HEAT_STACK, '', group_uuid, path, now, stack,
                   tuple(rules))


def _named(binding: Binding) -> str:
    return f'path {binding.path!r}' if binding.path else 'all members'


def _must_exist(binding: Binding, members: Sequence[Member]) -> None:
    """Check that the group has the path and the members of the rules.

    :param members: existing members, and those that a create may add
    :raises MemberUnknown: the group has no such path
    :raises InvalidDocument: no member has the path of a rule, or the path has
        more wildcards than the resource; the error lists all mistakes
    """
    known = {path for member in members
             for path in (member.path, member.description)}
    if binding.path and not any(
            path == binding.path or path.startswith(f'{binding.path}/')
            for path in known):
        raise table_errors.MemberUnknown(binding.group_uuid, binding.path)
    mistakes = exceptions.Mistakes()
    for number, rule in enumerate(binding.rules):
        place = f'binding.rules[{number}]'
        if rule.member.count(ANY) > rule.resource.split('/').count(ANY):
            mistakes.add(exceptions.InvalidDocument(
                f'{place}.member', f'{rule.member!r} has more {ANY} than '
                f'{rule.resource!r}'))
            continue
        path = below(binding.path, rule.member)
        pattern = '[^/]*'.join(map(re.escape, path.split(ANY)))
        if not any(re.fullmatch(pattern, each) for each in known):
            mistakes.add(exceptions.InvalidDocument(
                f'{place}.member', f'the group has no member {path!r}'))
    mistakes.must_be_none()
