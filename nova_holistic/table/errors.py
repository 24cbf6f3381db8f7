# SPDX-License-Identifier: Apache-2.0
"""Errors of the placement table."""

from nova_holistic import exceptions


class TableError(exceptions.HolisticError):
    """The database is unavailable or refuses a statement, or its configuration
    is invalid."""


class InvalidUrl(TableError):
    """The configuration names no database. The message does not contain the
    value, because it may contain a password."""

    def __init__(self):
        super().__init__('[holistic_database] connection is not the URL of a '
                         'supported database')


class InvalidConnection(TableError):
    """The driver of the database is not installed, or rejects an option. It
    also fails when the database is available."""

    def __init__(self, why: object):
        super().__init__('the driver of the database cannot be used with the '
                         f'options of [holistic_database]: {why}')


class SchemaTooOld(TableError):
    """The database must be upgraded before this code can use it."""

    def __init__(self, found: str | None, expected: str | None, needed: str):
        """
        :param found: the revision of the schema; None if it is empty
        :param expected: the latest revision that the code knows
        :param needed: the oldest revision that the code can use
        """
        state = f'at {found}' if found else 'empty'
        super().__init__(
            f'placement table: the schema is {state}; this code expects '
            f'{expected} and needs at least {needed}: run '
            'nova-holistic-manage db upgrade')


class ClaimRefused(exceptions.HolisticError):
    """The pointer cannot be used; the message states the reason."""


class GroupUnknown(ClaimRefused):
    """No group has this UUID."""

    def __init__(self, group_uuid: str):
        super().__init__(f'there is no group {group_uuid}')


class MemberUnknown(ClaimRefused):
    """The group has no member and no description with this path."""

    def __init__(self, group_uuid: str, path: str):
        super().__init__(f'group {group_uuid} has no member {path!r}')


class MemberTaken(ClaimRefused):
    """Other servers have members at this path, and none of these members can
    be claimed."""

    def __init__(self, group_uuid: str, path: str, kind: str = 'server'):
        super().__init__(
            f'member {path!r} of group {group_uuid} is taken by another '
            f'{kind}')


class MemberReleased(ClaimRefused):
    """Members at this path were released, and none of them can be claimed."""

    def __init__(self, group_uuid: str, path: str):
        super().__init__(
            f'member {path!r} of group {group_uuid} has been released')


class MemberNotPlannable(ClaimRefused):
    """The member cannot be claimed in its current state, or the server already
    has another member."""

    def __init__(self, group_uuid: str, path: str, why: str):
        super().__init__(
            f'member {path!r} of group {group_uuid} cannot be claimed: {why}')
