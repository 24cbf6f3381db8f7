# SPDX-License-Identifier: Apache-2.0
"""Versions of the API, in the header ``OpenStack-API-Version``.

A request without the header gets the first version, so that a new version does
not change the API for existing clients.
"""

import microversion_parse
import webob

from nova_holistic.api.errors import ApiError

SERVICE_TYPE = 'holistic'
HEADER = 'OpenStack-API-Version'
VERSIONS = ('1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7')
"""Every version, oldest first."""

MIN, MAX = VERSIONS[0], VERSIONS[-1]
BINDINGS = '1.1'
"""The first version with bindings of server groups."""
ADOPTION = '1.1'
"""The first version that adopts and detaches servers."""
ACTIONS = '1.2'
"""The first version in which an update may change members with servers, and
lists the actions that these servers require."""
SERVERS = '1.2'
"""The first version whose member descriptions have the key ``server``."""
BOOTS = '1.2'
"""The first version in which engines create servers."""
CLOUDS = '1.3'
"""The first version that shows the idempotency key of a group, and the clouds
of members that a parent of a federation has placed."""
OBJECTIVE_VALUES = '1.4'
"""The first version whose groups have value, bound and gap of their plan."""
WARNINGS = '1.5'
"""The first version whose plans have warnings."""
VOLUMES = '1.6'
"""The first version that creates groups with volumes, and shows them."""
CREATED_VOLUMES = '1.7'
"""The first version in which engines create volumes."""


def must_have(request: webob.Request, since: str) -> None:
    """Check the version of the request for a route.

    :param since: the first version that has the route
    :raises ApiError: 400 for an invalid version, 406 for an unsupported one,
        404 for one without the route
    """
    version = requested_version(request)
    if version < microversion_parse.parse_version_string(since):
        raise ApiError(404, 'not_found',
                       f'version {version} has no such resource: it needs '
                       f'{HEADER}: {SERVICE_TYPE} {since}')


def requested_version(request: webob.Request) -> microversion_parse.Version:
    """The version in the header of the request.

    :raises ApiError: 400 for an invalid version, 406 for an unsupported one
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
                       f'{text[:80]!r} is not a valid version: X.Y, or latest'
                       ) from None
    if str(version) not in VERSIONS:
        raise ApiError(406, 'unsupported_version',
                       f'version {version} is not supported; supported are '
                       f'{MIN} to {MAX}')
    return version


def has(request: webob.Request, since: str) -> bool:
    """Whether the version of the request has what a version added."""
    return requested_version(
        request) >= microversion_parse.parse_version_string(since)


def used(request: webob.Request) -> str:
    """The version of the response; the newest one if the request names no
    valid version."""
    try:
        return str(requested_version(request))
    except ApiError:
        return MAX


def response_headers(request: webob.Request) -> dict[str, str]:
    """The headers of each response that depend on the version."""
    return {HEADER: f'{SERVICE_TYPE} {used(request)}', 'Vary': HEADER,
            'Cache-Control': 'no-cache'}
