# SPDX-License-Identifier: Apache-2.0
"""Server groups of Nova and stacks of Heat that are bound to members."""

from collections.abc import Iterator
import contextlib
from datetime import datetime
import re
from typing import Any

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api import errors
from nova_holistic.api.schemas import common as schemas
from nova_holistic.api.views import common
from nova_holistic.documents.validation import brief
from nova_holistic.engine.binding.binder import shown_binding, UNCHECKED
from nova_holistic.engine.binding import stack_binder
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.messaging.results import ShownBinding
from nova_holistic.model.stack_rules import StackRule
from nova_holistic.table.coordination.bindings import (
    BindingKind, stack_target)
from nova_holistic.table import errors as table_errors


def list_bindings(call: Call) -> webob.Response:
    """List what is bound to members of a group."""
    record = call.group()
    return answer(200, {'bindings': [
        _document(binding) for binding in call.service.engines.bindings(
            call.context.for_engine(), record.uuid)]})


def bind(call: Call) -> webob.Response:
    """Treat creates in a server group, or of a Heat stack, as creates of
    members.

    A repeated request changes nothing.
    """
    if call.body['binding'].get('kind') == BindingKind.HEAT_STACK:
        return _bind_stack(call)
    record, target = call.group(), _target(call)
    if 'rules' in call.body['binding']:
        raise InvalidDocument(
            'binding.rules', f'only the kind {BindingKind.HEAT_STACK} has '
            'rules')
    with _place_of_path():
        bound = call.service.engines.bind(
            call.context.for_engine(), record.uuid,
            call.body['binding'].get('path', ''), target)
    return answer(200, {'binding': _document(bound)})


def unbind(call: Call) -> webob.Response:
    """End a binding; servers are not affected."""
    record, target = call.group(), call.names['target']
    if not call.service.table.bindings.remove(
            record.uuid, [target, stack_target(record.project_id, target)],
            call.service.clock()):
        raise errors.not_found('binding', brief(target))
    return answer(204)


def _bind_stack(call: Call) -> webob.Response:
    record, stack = call.group(), call.names['target']
    if not re.fullmatch(schemas.STACK['pattern'], stack):
        raise errors.not_found('Heat stack', brief(stack))
    body = call.body['binding']
    rules = [StackRule(rule['resource'], rule.get('member', ''))
             for rule in body.get('rules', ())]
    if not rules:
        raise InvalidDocument('binding.rules', 'a Heat stack needs a rule')
    with _place_of_path():
        bound = stack_binder.bind(
            call.service.table, stack_binder.requested_binding(
                record.uuid, body.get('path', ''), stack, rules,
                call.service.clock()))
    return answer(200, {'binding': _document(shown_binding(bound, UNCHECKED))})


@contextlib.contextmanager
def _place_of_path() -> Iterator[None]:
    """The error of an unknown path gets its position in the body."""
    try:
        yield
    except table_errors.MemberUnknown as error:
        raise errors.ApiError(
            400, 'unknown_member', f'binding.path: {error}') from error


def _target(call: Call) -> str:
    target = call.names['target']
    if not re.fullmatch(schemas.UUID['pattern'], target):
        raise errors.not_found('server group', brief(target))
    return target


def _document(binding: ShownBinding) -> dict[str, Any]:
    document = binding.to_document()
    rules = [{'resource': resource, 'member': member}
             for resource, member in document.pop('rules')]
    return {**document, 'created_at': common.time(
        datetime.fromisoformat(binding.created_at)),
        **({'rules': rules} if rules else {})}
