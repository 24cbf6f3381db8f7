# SPDX-License-Identifier: Apache-2.0
"""Rights to act for users, from their grant to their deletion."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from keystoneauth1.adapter import Adapter
from keystoneauth1.plugin import BaseAuthPlugin

from nova_holistic.boot.credential_cipher import CredentialCipher
from nova_holistic.boot.errors import RightUnavailable
from nova_holistic.boot.trusts import Trusts, User
from nova_holistic.boot.user_servers import UserServers
from nova_holistic.table.boot_records import BootRecord


@dataclass(frozen=True, slots=True)
class Right:
    """The right to act for the user of one group.

    :ivar servers: the servers of the user's project
    :ivar end: deletes the right; False if it expires only later
    """

    servers: UserServers
    end: Callable[[], bool]


class Rights:
    """A right is stored encrypted, in the row of one group."""

    def __init__(self, cipher: CredentialCipher, trusts: Trusts,
                 nova_of: Callable[[BaseAuthPlugin], Adapter],
                 lifetime: float):
        """
        :param nova_of: connects to Nova with an authentication
        :param lifetime: seconds until an unused right expires
        """
        self._cipher = cipher
        self._trusts = trusts
        self._nova_of = nova_of
        self._lifetime = lifetime

    def grant(self, user: User, group_uuid: str, now: datetime) -> str:
        """A new right, encrypted for the row of a group.

        :raises TrustRefused: keystone does not allow it
        :raises ServiceFailed: keystone does not answer
        """
        return self._cipher.encrypt(group_uuid, self._trusts.create(
            user, now, self._lifetime))

    def withdraw(self, group_uuid: str, encrypted: str) -> None:
        """Delete a right that no row of the table contains."""
        trust = self._cipher.decrypt(group_uuid, encrypted)
        self._trusts.delete(trust, self._trusts.authentication(trust))

    def open(self, record: BootRecord) -> Right:
        """:raises RightUnavailable: it cannot be decrypted"""
        if record.credential is None:
            raise RightUnavailable('the right to act for the user is deleted')
        trust = self._cipher.decrypt(record.group_uuid, record.credential)
        auth = self._trusts.authentication(trust)
        return Right(UserServers(self._nova_of(auth)),
                     lambda: self._trusts.delete(trust, auth))
