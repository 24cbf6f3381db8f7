# SPDX-License-Identifier: Apache-2.0
"""The hosts and the members of the servers of stacks."""


def the_group(groups):
    (group,) = groups.list()
    return group['id']


def members(groups):
    """UUIDs of the servers by the paths of the members of the only group."""
    return {each['member']: each['instance_uuid']
            for each in groups.placements(the_group(groups))}


def hosts(nova, stack):
    """Resource name to host, as Nova reports it."""
    host_of = hosts_by_id(nova)
    return {name: host_of[uuid] for name, uuid in stack.servers().items()}


def hosts_by_id(nova):
    """UUID of each server to host, as Nova reports it."""
    return {each['id']: each['OS-EXT-SRV-ATTR:host'] for each in nova.all()}
