# SPDX-License-Identifier: Apache-2.0
"""Server groups of Nova that are bound to members of a group."""

from datetime import datetime
import re
from typing import Any

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api import errors
from nova_holistic.api.schemas import common as schemas
from nova_holistic.api.views import common
from nova_holistic.documents.validation import brief
from nova_holistic.messaging.answers import ShownBinding


def list_bindings(call: Call) -> webob.Response:
    """List the server groups that are bound to members of a group."""
    record = call.group()
    return answer(200, {'bindings': [
        _shown(each) for each in call.service.engines.bindings(
            call.context.for_engine(), record.uuid)]})


def bind(call: Call) -> webob.Response:
    """Treat creates in a server group as creates of a member.

    A repeated request changes nothing.
    """
    record, target = call.group(), _target(call)
    return answer(200, {'binding': _shown(call.service.engines.bind(
        call.context.for_engine(), record.uuid,
        call.body['binding'].get('path', ''), target))})


def unbind(call: Call) -> webob.Response:
    """End the binding of a server group; its servers are not affected."""
    record, target = call.group(), _target(call)
    if not call.service.table.bindings.remove(record.uuid, target):
        raise errors.not_found('binding', target)
    return answer(204)


def _target(call: Call) -> str:
    target = call.names['target']
    if not re.fullmatch(schemas.UUID['pattern'], target):
        raise errors.not_found('server group', brief(target))
    return target


def _shown(binding: ShownBinding) -> dict[str, Any]:
    return {**binding.to_document(), 'created_at': common.time(
        datetime.fromisoformat(binding.created_at))}
