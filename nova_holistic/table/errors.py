# SPDX-License-Identifier: Apache-2.0
"""Errors of the placement table."""

from nova_holistic import exceptions


class TableError(exceptions.HolisticError):
    """The database is unavailable, or refuses a statement."""


class SchemaTooOld(TableError):
    """The database must be upgraded before this code can use it."""

    def __init__(self, found: str | None, needed: str | None):
        state = f'at {found}' if found else 'empty'
        super().__init__(
            f'placement table: the schema is {state}, and this code needs '
            f'{needed}: run nova-holistic-manage db upgrade')


class ClaimRefused(exceptions.HolisticError):
    """The pointer cannot be used; the message states the reason."""


class GroupUnknown(ClaimRefused):
    """No group has that UUID."""

    def __init__(self, group_uuid: str):
        super().__init__(f'there is no group {group_uuid}')


class MemberUnknown(ClaimRefused):
    """The group has no member and no description with that path."""

    def __init__(self, group_uuid: str, path: str):
        super().__init__(f'group {group_uuid} has no member {path!r}')


class MemberTaken(ClaimRefused):
    """Every server with that path already belongs to an instance."""

    def __init__(self, group_uuid: str, path: str):
        super().__init__(
            f'member {path!r} of group {group_uuid} is taken by another '
            f'server')


class MemberReleased(ClaimRefused):
    """The members that were planned for that path have been released."""

    def __init__(self, group_uuid: str, path: str):
        super().__init__(
            f'member {path!r} of group {group_uuid} has been released')


class MemberNotPlannable(ClaimRefused):
    """The member's place cannot be claimed now, or can no longer be
    claimed."""

    def __init__(self, group_uuid: str, path: str, why: str):
        super().__init__(
            f'member {path!r} of group {group_uuid} cannot be claimed: {why}')
