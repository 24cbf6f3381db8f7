# SPDX-License-Identifier: Apache-2.0
"""Paths in URLs of groups, and paths of members in them."""

from urllib import parse

from nova_holistic.client import errors

_DOTS = ('.', '..')
"""Names that HTTP clients remove from a URL. The request would then concern
another resource."""

_NOT_FOUND, _INVALID = 'holistic.not_found', 'holistic.invalid_path'
"""Codes that the API would return."""


def group_url(*names: str) -> str:
    """The path below ``/v1`` of a group, or of a part of it.

    :param names: the ID of the group, and the names below it
    :raises Refused: 404, nothing has such a name
    """
    for name in names:
        if not name or name in _DOTS:
            raise errors.Refused(404, _NOT_FOUND, f'{name!r} does not exist')
    return '/'.join(('/groups', *(
        parse.quote(name, safe='') for name in names)))


def must_fit_in_url(path: str) -> None:
    """
    :raises Refused: 404, no member has such a path; 400, the path contains the
        name . or .., which HTTP clients remove from a URL
    """
    names = path.split('/')
    if '' in names:
        raise errors.Refused(
            404, _NOT_FOUND, f'member {path!r} does not exist')
    if not set(names).isdisjoint(_DOTS):
        raise errors.Refused(
            400, _INVALID, f'member {path} cannot be named in a URL: replace '
            'the definition of the group by one without it')
