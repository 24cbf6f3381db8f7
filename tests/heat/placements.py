# SPDX-License-Identifier: Apache-2.0
"""The hosts and the members of the servers of stacks."""


def the_group(groups):
    """The UUID of the only group."""
    (group,) = groups.list()
    return group['id']


def members(groups):
    """UUIDs of the servers by the paths of the members of the only group."""
    return {each['member']: each['instance_uuid']
            for each in groups.placements(the_group(groups))}


def hosts(nova, stack):
    """The hosts of a stack's servers, as Nova reports them, by resource
    name."""
    host_of = hosts_by_id(nova)
    return {name: host_of[uuid] for name, uuid in stack.servers().items()}


def hosts_by_id(nova):
    """The hosts of all servers, as Nova reports them, by UUID."""
    return {each['id']: each['OS-EXT-SRV-ATTR:host'] for each in nova.all()}
