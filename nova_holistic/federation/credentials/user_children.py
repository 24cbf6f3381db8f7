# SPDX-License-Identifier: Apache-2.0
"""The children of a parent, each with the credentials of one user."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
import time

from keystoneauth1.adapter import Adapter
from keystoneauth1.plugin import BaseAuthPlugin
from keystoneauth1.session import Session

from nova_holistic.boot.errors import RightUnavailable
from nova_holistic.federation.child import (
    Child, KnownGroup, Refusal, RefusalKind)
from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.credentials.closed_child import ClosedChild
from nova_holistic.federation.credentials.registered import (
    RegisteredCredentials)
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.http.exchange import Exchange
from nova_holistic.federation.http.traffic import HttpLimits, Traffic
from nova_holistic.federation.http_child import HttpChild
from nova_holistic.federation import parent_path
from nova_holistic.federation.saga.journal import PartRecord
from nova_holistic.inventory import http_environment
from nova_holistic.model.plan import Reason

SERVICE_TYPE = 'holistic'


class UserChildren:
    """Provides the children of each user. A process needs only one object, so
    that all users share the limits of a child.

    :ivar entries: the children, by their names
    :ivar own_name: name of the parent in requests to its children
    """

    def __init__(self, entries: Sequence[ChildEntry], limits: HttpLimits,
                 registered: RegisteredCredentials | None,
                 clock: Callable[[], datetime], parent_id: str = 'parent'):
        """
        :param registered: None if this parent stores no credentials
        :param clock: returns naive UTC
        :param parent_id: identifier of the parent
        """
        self.own_name = parent_path.name_of(parent_id, entries)
        self.entries: Mapping[str, ChildEntry] = {
            each.name: each for each in entries}
        self._registered = registered
        self._clock = clock
        self._sessions = {each.name: _session(each, limits.seconds)
                          for each in entries}
        self._traffic = {each.name: Traffic(
            limits, time.monotonic, time.sleep) for each in entries}

    def of(self, user: User) -> Mapping[str, Child]:
        """All children in the order of the file. A child that the user cannot
        reach refuses every request."""
        return {name: self.child(user, name) for name in self.entries}

    def child_of(self, user: User, part: PartRecord) -> Child:
        """The child that has a part. It does not accept that the part is gone
        if the credentials only do not show it."""
        return self.child(user, part.child, part.known_group)

    def child(self, user: User, name: str,
              known: KnownGroup | None = None) -> Child:
        """One child. A child that the file no longer lists refuses every
        request.

        :param known: see ``HttpChild``
        """
        entry = self.entries.get(name)
        if entry is None:
            return _closed(name, 'is no longer a child of this parent')
        try:
            auth = self._authentication(user, entry)
        except RightUnavailable:
            return _closed(name, 'the registered application credential '
                           'cannot be decrypted; register it again')
        if auth is None:
            return _closed(
                name, 'register an application credential for this cloud'
                if entry.keystone else 'the request has no token')
        parents = parent_path.joined(user.parents, self.own_name)
        return HttpChild(name, self.exchange(
            name, auth, f'{user.user_id} {user.project_id} {parents}',
            parents=parents), self._clock, known=known)

    def exchange(self, name: str, auth: BaseAuthPlugin, identity: str,
                 service_type: str = SERVICE_TYPE,
                 parents: str | None = None) -> Exchange:
        """The requests to a service of a child in the file.

        :param identity: identifies the user, so that only equal requests of
            the same user share an answer
        :param parents: value of the header with the parents of the request;
            None: no header
        """
        entry = self.entries[name]
        adapter = Adapter(
            self.session(name), auth=auth, service_type=service_type,
            interface='public', region_name=entry.region,
            endpoint_override=(entry.endpoint if service_type == SERVICE_TYPE
                               else None), client_name='nova-holistic',
            additional_headers={parent_path.HEADER: parents}
            if parents else {})
        return Exchange(name, adapter, self._traffic[name], identity)

    def session(self, name: str) -> Session:
        """The HTTP session for a child in the file."""
        return self._sessions[name]

    def _authentication(self, user: User,
                        entry: ChildEntry) -> BaseAuthPlugin | None:
        if entry.keystone is None:
            return user.token
        return self._registered and self._registered.authentication(
            user, entry)


def _session(entry: ChildEntry, seconds: float) -> Session:
    # The requests to keystone have no other time limit: a thread that waits
    # for one would never end.
    session = Session(verify=entry.ca_file or True, timeout=seconds)
    http_environment.skip_environment_lookups(session)
    return session


def _closed(name: str, why: str) -> ClosedChild:
    text = f'cloud {name}: {why}'
    return ClosedChild(name, Refusal(name, RefusalKind.FORBIDDEN, (
        Reason('', text, names=(), hidden=(), public=text),)))
