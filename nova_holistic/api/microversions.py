# SPDX-License-Identifier: Apache-2.0
"""Versions of the API, in the header ``OpenStack-API-Version``.

A request without the header gets the first one, so that no client breaks
when there is another.
"""

import microversion_parse
import webob

from nova_holistic.api.errors import ApiError

SERVICE_TYPE = 'holistic'
HEADER = 'OpenStack-API-Version'
VERSIONS = ('1.0',)
"""Every version, oldest first."""

MIN, MAX = VERSIONS[0], VERSIONS[-1]


def wanted(request: webob.Request) -> microversion_parse.Version:
    """The version that the request asks for.

    :raises ApiError: 400 for what is no version, 406 for one there is not
    """
    text = microversion_parse.get_version(
        request.headers, service_type=SERVICE_TYPE)
    if text is None:
        return microversion_parse.parse_version_string(MIN)
    if text == 'latest':
        return microversion_parse.parse_version_string(MAX)
    try:
        version = microversion_parse.parse_version_string(text)
    except TypeError:
        raise ApiError(400, 'invalid_version',
                       f'{text[:80]!r} is no version: X.Y, or latest'
                       ) from None
    if str(version) not in VERSIONS:
        raise ApiError(406, 'unsupported_version',
                       f'there is no version {version}; from {MIN} to {MAX}')
    return version
