# SPDX-License-Identifier: Apache-2.0
"""Version discovery, for any client."""

from typing import Any

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api.requests import microversions
from nova_holistic.api.views import common


def versions(call: Call) -> webob.Response:
    """List the versions of the API."""
    return answer(200, {'versions': [_version(call)]})


def version(call: Call) -> webob.Response:
    """Show version 1 of the API."""
    return answer(200, {'version': _version(call)})


def openapi(call: Call) -> webob.Response:
    """Describe the API in OpenAPI."""
    return answer(200, call.service.description())


def _version(call: Call) -> dict[str, Any]:
    return {'id': 'v1.0', 'status': 'CURRENT',
            'min_version': microversions.MIN,
            'max_version': microversions.MAX,
            'links': [common.link('self', call.url('/v1') + '/')]}
