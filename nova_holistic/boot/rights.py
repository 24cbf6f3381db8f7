# SPDX-License-Identifier: Apache-2.0
"""Rights to act for users, from their grant to their deletion."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from keystoneauth1.adapter import Adapter
from keystoneauth1.plugin import BaseAuthPlugin
from oslo_log import log as logging

from nova_holistic.boot.credential_cipher import CredentialCipher
from nova_holistic.boot.errors import RightUnavailable
from nova_holistic.boot.trusts import Trusts, User
from nova_holistic.boot.user_servers import UserServers
from nova_holistic.boot.user_volumes import UserVolumes
from nova_holistic import crash_points, exceptions
from nova_holistic.table.boot_records import BootRecord
from nova_holistic.table.created_volumes import VolumeCreation

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Right:
    """The right to act for the user of one group.

    :ivar servers: the servers of the user's project
    :ivar end: deletes the right; False if it expires only later
    :ivar volumes: the volumes of the user's project; None if Cinder is not
        configured
    """

    servers: UserServers
    end: Callable[[], bool]
    volumes: UserVolumes | None = None


class Rights:
    """A right is stored encrypted, in the row of one group."""

    def __init__(self, cipher: CredentialCipher, trusts: Trusts,
                 connect: Callable[[str, BaseAuthPlugin], Adapter | None],
                 lifetime: float):
        """
        :param connect: connects to ``nova`` or ``cinder`` with an
            authentication; None if the service is not configured
        :param lifetime: seconds until an unused right expires
        """
        self._cipher = cipher
        self._trusts = trusts
        self._connect = connect
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

    def open(self, record: BootRecord | VolumeCreation) -> Right:
        """:raises RightUnavailable: it cannot be decrypted"""
        if record.credential is None:
            raise RightUnavailable('the right to act for the user is deleted')
        trust = self._cipher.decrypt(record.group_uuid, record.credential)
        auth = self._trusts.authentication(trust)
        cinder = self._connect('cinder', auth)
        return Right(UserServers(self._connect('nova', auth)),
                     lambda: self._trusts.delete(trust, auth),
                     cinder and UserVolumes(cinder))


def open_right(rights: Rights | None,
               record: BootRecord | VolumeCreation) -> Right:
    """
    :param rights: None if this engine has no key for them
    :raises RightUnavailable: it cannot be decrypted
    """
    if rights is None:
        raise RightUnavailable('this engine has no [boot] encryption_keys')
    return rights.open(record)


def end_right(rights: Rights | None,
              record: BootRecord | VolumeCreation) -> None:
    """Delete a right that is not needed any longer. If this is not possible,
    the right expires later.

    :param rights: None if this engine has no key for them
    :raises HolisticError: another attempt may succeed
    """
    try:
        open_right(rights, record).end()
    except RightUnavailable as error:
        LOG.warning('The right to act for the user of group %s expires '
                    'later: %s', record.group_uuid, error)
    except exceptions.HolisticError:
        raise
    except Exception:
        # The same error may have ended each attempt to use it.
        LOG.exception('The right to act for the user of group %s expires '
                      'later', record.group_uuid)
    crash_points.reached('boot.right-deleted')
