# SPDX-License-Identifier: Apache-2.0
"""Errors of the creation of servers by an engine."""

from nova_holistic import exceptions
from nova_holistic.inventory.errors import ServiceFailed


class RightUnavailable(exceptions.HolisticError):
    """The engine may not act for the user: the trust has expired, or it cannot
    be decrypted."""


class TrustRefused(exceptions.HolisticError):
    """Keystone did not give the service the right to act for the user.

    :ivar message: for users
    """

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message


class VolumeNotDeleted(exceptions.HolisticError):
    """Cinder has failed to delete a volume, and accepts no further request to
    delete it."""


class CreateRefused(exceptions.HolisticError):
    """Nova has refused to create a server: no server exists."""


class TooManyRequests(ServiceFailed):
    """A service has received too many requests, and has not carried out this
    one."""
