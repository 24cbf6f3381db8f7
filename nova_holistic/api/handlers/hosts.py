# SPDX-License-Identifier: Apache-2.0
"""Hosts: statistics that external tools measure."""

import webob

from nova_holistic.api.call import answer, Call


def update_statistics(call: Call) -> webob.Response:
    """Report statistics that were measured on a host."""
    call.service.engines.update_resource_stats(
        call.context.for_engine(), call.names['host'],
        call.body['statistics'])
    return answer(204)
