# SPDX-License-Identifier: Apache-2.0
"""Hosts: what others measure on them."""

import webob

from nova_holistic.api.call import answer, Call


def update_statistics(call: Call) -> webob.Response:
    """Tell what was measured on a host."""
    call.service.engines.update_resource_stats(
        call.context.for_engine(), call.names['host'],
        call.body['statistics'])
    return answer(204)
