# SPDX-License-Identifier: Apache-2.0
"""Paths of members in URLs."""

from nova_holistic.client import errors


def must_fit_in_url(path: str) -> None:
    """
    :raises Refused: 404, no member has such a path; 400, the path contains the
        name . or .., which HTTP clients remove from a URL
    """
    names = path.split('/')
    if '' in names:
        raise errors.Refused(404, '', f'member {path} does not exist')
    if '.' in names or '..' in names:
        raise errors.Refused(
            400, '', f'member {path} cannot be named in a URL: replace the '
            'definition of the group by one without it')
