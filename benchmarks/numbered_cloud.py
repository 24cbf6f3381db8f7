# SPDX-License-Identifier: Apache-2.0
"""A cloud whose hosts, groups, members and servers are numbered, so that
several processes can compute the same names and UUIDs.

Members are spread over the hosts in turn. Every second group is complete, and
each of its members has a server; each member of the others has a hold.
"""

from dataclasses import dataclass
import uuid

HOSTS_PER_RACK = 40
PROJECTS = 20
RESOURCES = {'VCPU': 2, 'MEMORY_MB': 4096, 'DISK_GB': 20}
"""Of each member and of each server."""
FLAVOR = 'm1.small'

_PROVIDER, _HOLD, _SERVER, _GROUP, _SERVICE, _RACK, _OTHER_SERVER = range(1, 8)


@dataclass(frozen=True)
class Sizes:
    """Numbers of hosts, groups and members; each group has as many members
    as every other."""

    hosts: int
    groups: int
    members: int

    def __post_init__(self):
        if self.members % self.groups:
            raise ValueError('each group has the same number of members')

    @property
    def per_group(self):
        return self.members // self.groups

    def group_of(self, member):
        return member // self.per_group

    def host_of(self, member):
        return member % self.hosts

    def has_server(self, member):
        return self.group_of(member) % 2 == 0

    def servers(self, project):
        """Members with servers of a project, the latest first."""
        return (member for group in range(self.groups - 1, -1, -1)
                if group % 2 == 0 and project_of(group) == project
                for member in range((group + 1) * self.per_group - 1,
                                    group * self.per_group - 1, -1))


def project_of(group):
    # Each project has groups of both kinds.
    number = group // 2 % PROJECTS
    return f'project-{number}' if number else 'blue'


def host_name(host):
    return f'cmp-{host:05}'


def rack_name(host):
    return f'rack{host // HOSTS_PER_RACK:04}'


def _uuid(kind, number):
    return str(uuid.UUID(int=(kind << 120) + number))


def provider_uuid(host):
    return _uuid(_PROVIDER, host)


def hold_uuid(member):
    return _uuid(_HOLD, member)


def server_uuid(member):
    return _uuid(_SERVER, member)


def group_uuid(group):
    return _uuid(_GROUP, group)


def service_uuid(host):
    return _uuid(_SERVICE, host)


def rack_uuid(rack):
    return _uuid(_RACK, rack)


def other_server_uuid(number):
    """UUID of a server that is no member."""
    return _uuid(_OTHER_SERVER, number)


def number_of(text):
    """The number in the UUID of anything."""
    return uuid.UUID(text).int & ((1 << 120) - 1)
