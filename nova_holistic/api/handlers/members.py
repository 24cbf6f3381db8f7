# SPDX-License-Identifier: Apache-2.0
"""Members of a group: added, removed, released, shown."""

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api import errors
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.views import members as views


def release(call: Call) -> webob.Response:
    """Free planned places: of all members, or of some."""
    record = call.group()
    done = call.service.engines.release(
        call.context.for_engine(), record.uuid,
        call.body['release'].get('members'))
    return answer(200, {'released': list(done.released),
                        'kept': list(done.kept)})


def placements(call: Call) -> webob.Response:
    """Show the members of a group, and where they are."""
    record = call.group()
    found = call.service.table.group_with_members(record.uuid)
    if found is None:
        raise errors.not_found('group', record.uuid)
    hosts = call.service.authority.may_with(
        call.context, rules.SHOW_HOSTS, record)
    return answer(200, {'placements': [
        views.placement(member, hosts) for member in found[1]]})
