# SPDX-License-Identifier: Apache-2.0
"""The children of a parent as a user sees them, with the application
credentials that they need and that are registered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nova_holistic.federation.credentials.registered import (
    RegisteredCredentials)
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.errors import ChildUnknown, NotOffered


@dataclass(frozen=True, slots=True)
class UserChild:
    """A child as a user sees it.

    :ivar keystone: URL of the child's own identity API; None: the child
        accepts the tokens of the parent's keystone
    :ivar registered_at: naive UTC; None: no credential is registered
    """

    name: str
    keystone: str | None
    registered_at: datetime | None


class Registrations:
    """Reads and changes the credentials of the user of a request in its
    project, and no others."""

    def __init__(self, children: UserChildren,
                 stored: RegisteredCredentials | None):
        """:param stored: None if this parent stores no credentials"""
        self._children = children
        self._stored = stored

    def children(self, user: User) -> Sequence[UserChild]:
        """All children, in the order of the file."""
        times = self._stored.registered(user) if self._stored else {}
        return [UserChild(each.name, each.keystone, times.get(each.name))
                for each in self._children.entries.values()]

    def register(self, user: User, name: str, credential_id: str,
                 secret: str) -> None:
        """Store an application credential in place of an earlier one.

        :raises ChildUnknown: there is no such child
        :raises NotOffered: the child needs no credential, or this parent
            stores none
        :raises CredentialRefused: the child's keystone does not accept it
        :raises ChildUnreachable: the child's keystone does not answer
        """
        entry = self._children.entries.get(name)
        if entry is None:
            raise ChildUnknown(f'there is no child {name}')
        if entry.keystone is None:
            raise NotOffered(
                f'child {name} accepts the tokens of this service, and needs '
                'no application credential')
        if self._stored is None:
            raise NotOffered(
                'this service stores no application credentials')
        self._stored.register(user, entry, credential_id, secret,
                              self._children.session(name))

    def delete(self, user: User, name: str) -> None:
        """Delete the credential for a child.

        :raises ChildUnknown: no credential is registered for the child
        """
        if self._stored is None or not self._stored.delete(user, name):
            raise ChildUnknown(
                f'no application credential is registered for {name}')
