# SPDX-License-Identifier: Apache-2.0
"""Whether an existing server matches the description of a member.

The rules are those for create requests: see ``scheduler.claim.request_check``.
In addition, the host of the server must meet the requirements of the member.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from nova_holistic.documents.groups.adoption import position
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.member_traits import traits_for
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.nova.requested_traits import requested_traits

UNFINISHED = ('BUILD', 'DELETED', 'SOFT_DELETED')
"""Statuses of a server that has not run yet or is about to be removed."""


class Server(Protocol):
    """A server of Nova: ``reconcile.instances.InstanceView``."""

    uuid: str
    host: str | None
    status: str
    node: str
    launched: bool
    flavor: str
    task: str | None
    project_id: str

    @property
    def may_have_two_hosts(self) -> bool:
        ...


def refused(path: str, message: str) -> InvalidDocument:
    """The error that states why a server cannot become a member.

    :param path: path of the member
    """
    return InvalidDocument(position(path), message)


def must_be_settled(path: str, uuid: str, server: Server | None,
                    project_id: str | None) -> None:
    """Check that a server of the project runs on a host, and that Nova is not
    changing it.

    :param server: None if the server does not exist
    :raises InvalidDocument: the project has no such server, Nova is changing
        it, or it does not run on a host
    """
    if server is None or server.project_id not in ('', project_id):
        raise refused(path, f'the project has no server {uuid}')
    if server.task is not None:
        raise refused(path, f'Nova is working on server {uuid}: '
                            f'{server.task}; try again later')
    if server.may_have_two_hosts:
        raise refused(path, f'server {uuid} is in status {server.status}; '
                            f'try again when its move has ended')
    if server.host is None or server.status in UNFINISHED or (
            not server.launched):
        raise refused(path, f'server {uuid} is in status {server.status} '
                            f'and does not run on a host')


def host_of_server(server: Server, snapshot: Snapshot) -> Host | None:
    """The host of a server in the snapshot, by host name or hypervisor host
    name; None if the snapshot does not contain the host."""
    hosts = snapshot.once('hosts by name', lambda: {
        host.name: host for host in snapshot.hosts})
    return hosts.get(server.host) or hosts.get(server.node)


def must_match(member: Member, server: Server, host: Host,
               snapshot: Snapshot, allocated: Mapping[str, int]) -> None:
    """Check that a server and its host match the description of a member.

    :param allocated: the allocation of the server on the host in Placement
    :raises InvalidDocument: the server does not match the description
    """
    for difference in _differences(
            member.requirements, server, host, snapshot, allocated):
        raise refused(
            member.path, f'server {server.uuid} does not match the '
                         f'description of the member: {difference}')


def _differences(requirements: Requirements, server: Server, host: Host,
                 snapshot: Snapshot, allocated: Mapping[str, int]
                 ) -> Iterator[str]:
    described = snapshot.flavors.get(requirements.flavor or '')
    flavor = snapshot.flavors.get(server.flavor)
    if described is not None and server.flavor not in ('', described.id):
        name = server.flavor if flavor is None else flavor.name
        yield (f'it has flavor {name}, but the description states flavor '
               f'{requirements.flavor}')
    resources = {name: amount
                 for name, amount in requirements.resources.items() if amount}
    if dict(allocated) != resources:
        yield (f'it has {_amounts(allocated)}, but the description states '
               f'{_amounts(resources)}')
    if flavor is not None:
        image = (snapshot.images.get(requirements.image)
                 if isinstance(requirements.image, str)
                 else requirements.image)
        requested = requested_traits(flavor, image)
        for verb, traits, known in (
                ('requires', requested.required,
                 requirements.required_traits),
                ('forbids', requested.forbidden,
                 requirements.forbidden_traits)):
            if traits - known:
                names = ', '.join(sorted(traits - known))
                yield (f'it {verb} the trait {names}, which the description '
                       'does not mention')
    yield from _unmet(requirements, server, host, snapshot)


def _unmet(requirements: Requirements, server: Server, host: Host,
           snapshot: Snapshot) -> Iterator[str]:
    """Requirements that the server and its host do not meet, without the
    names of hosts, which users may not see."""
    zone = requirements.availability_zone
    if zone is not None and host.availability_zone != zone:
        yield f'its host is not in availability zone {zone}'
    missing = requirements.required_traits - traits_for(
        host, requirements.resources)
    if missing:
        yield f'its host lacks the trait {", ".join(sorted(missing))}'
    present = requirements.forbidden_traits & host.traits
    if present:
        yield (f'its host has the forbidden trait '
               f'{", ".join(sorted(present))}')
    for name in sorted(requirements.aggregates - host.aggregates):
        yield f'its host is not in aggregate {name}'
    vertex = (*host.location, host.name)
    if vertex[:len(requirements.location)] != requirements.location:
        yield f'its host is not below {"/".join(requirements.location)}'
    group = snapshot.server_groups.get(requirements.server_group or '')
    if group is not None and server.uuid not in group.hosts:
        yield f'it is not in server group {requirements.server_group}'


def _amounts(resources: Mapping[str, int]) -> str:
    return ', '.join(
        f'{name}={resources[name]}'
        for name in sorted(resources)) or 'no resources on its host'
