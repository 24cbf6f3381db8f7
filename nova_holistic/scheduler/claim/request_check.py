# SPDX-License-Identifier: Apache-2.0
"""Checks that a request matches the description of its member."""

from collections.abc import Callable
from collections import Counter
import functools
import inspect

import nova.conf
from nova import exception
from nova import objects
from nova.scheduler import request_filter
from nova.scheduler import utils

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler.claim import request_groups
from nova_holistic.scheduler.claim.request_refusal import RequestRefused

CONF = nova.conf.CONF
_owner = getattr(request_filter, 'owner_nova_filter', None)


def resource_request(context, spec: 'objects.RequestSpec', host_manager
                     ) -> utils.ResourceRequest:
    """The resources that stock Nova would request from Placement; this changes
    the spec in the same way as stock Nova, without ``require_owner``.

    :raises RequestRefused: one of Nova's request filters excludes all hosts
    """
    zone = spec.availability_zone
    # Nova's request filter for zones reads every host of the zone. Here, only
    # the zone of one host matters, and ``HostReader.check_admits`` checks it.
    spec.availability_zone = None
    try:
        # This replaces request_filter.process_reqspec(), whose measurement of
        # each filter takes longer than most filters.
        for each in _unmeasured(tuple(request_filter.ALL_REQUEST_FILTERS)):
            each(context, spec)
        return utils.resources_from_request_spec(context, spec, host_manager)
    except (exception.RequestFilterFailed, exception.NoValidHost) as error:
        raise RequestRefused(error.format_message()) from error
    finally:
        spec.availability_zone = zone


@functools.lru_cache(maxsize=1)
def _unmeasured(filters: tuple[Callable, ...]) -> tuple[Callable, ...]:
    """Nova's request filters without their decorators."""
    return tuple(inspect.unwrap(each) for each in filters
                 if each is not _owner)


def require_owner(context, spec: 'objects.RequestSpec') -> None:
    """Exclude the providers of other services, as Nova does since version 34.

    Nova's filter waits for an answer of every cell. Only a request in which
    Placement chooses the hosts needs it.
    """
    if _owner is not None:
        inspect.unwrap(_owner)(context, spec)


def check_match(spec: 'objects.RequestSpec', asked: utils.ResourceRequest,
                requirements: Requirements) -> None:
    """Check the flavor, the zone, the server group, the resources and the
    traits of a request against the description of its member.

    :raises RequestRefused: the request does not match the description
    """
    for found, described in (
            _flavors(spec, requirements), _zones(spec, requirements),
            _server_groups(spec, requirements),
            _resources(asked, requirements)):
        if found != described:
            raise RequestRefused(
                f'the request does not match the description of the member: '
                f'it requests {found}, but the description states {described}'
                f'{_volume_hint(spec, requirements)}')
    request_groups.check_match(asked, requirements)
    _check_traits(asked, requirements)


def _flavors(spec, requirements):
    described = requirements.flavor
    if described in (None, spec.flavor.name, spec.flavor.flavorid):
        return None, None
    return f'flavor {spec.flavor.name}', f'flavor {described}'


def _zones(spec, requirements):
    asked, described = spec.availability_zone, requirements.availability_zone
    if not asked or not described:
        return None, None
    return f'availability zone {asked}', f'availability zone {described}'


def _server_groups(spec, requirements):
    group = spec.instance_group if 'instance_group' in spec else None
    described = requirements.server_group
    if not group or not described or group.uuid == described.lower():
        return None, None
    return f'server group {group.uuid}', f'server group {described}'


def _volume_hint(spec, requirements) -> str:
    """A hint for the message: a root volume explains most differences of
    DISK_GB."""
    boots = 'is_bfv' in spec and bool(spec.is_bfv)
    if boots == requirements.boot_from_volume:
        return ''
    if boots:
        return '; for a root volume, add boot_from_volume to the member'
    return ('; without a root volume, remove boot_from_volume from the '
            'member')


def _resources(asked, requirements):
    described = Counter({name: amount for name, amount
                         in requirements.resources.items() if amount})
    for group in requirements.request_groups:
        described.update(group.resources)
    return _amounts(asked.merged_resources()), _amounts(described)


def _amounts(resources) -> str:
    return ', '.join(f'{name}={resources[name]}' for name in sorted(resources))


def _check_traits(asked, requirements):
    group = asked.get_request_group(None)
    for verb, wanted, described in (
            ('requires', group.required_traits, requirements.required_traits),
            ('forbids', group.forbidden_traits,
             requirements.forbidden_traits)):
        lacking = sorted(set(wanted) - described)
        if lacking:
            raise RequestRefused(
                'the request does not match the description of the member: '
                f'it {verb} the trait {", ".join(lacking)}, which the '
                'description does not mention')


def drop_default_zone(spec: 'objects.RequestSpec') -> None:
    """Remove the default zone, which Nova adds to a request without a zone.

    Nova does not record whether the user named the zone. Only the description
    of the member and its plan determine the zone of the server.
    """
    if CONF.default_schedule_zone and (
            spec.availability_zone == CONF.default_schedule_zone):
        spec.availability_zone = None


def check_destination(spec: 'objects.RequestSpec', host: str, node: str
                      ) -> None:
    """Check that the request does not name another host or node.

    :raises RequestRefused: the request names another host or node
    """
    hosts = list(spec.force_hosts or []) if 'force_hosts' in spec else []
    nodes = list(spec.force_nodes or []) if 'force_nodes' in spec else []
    destination = ('requested_destination' in spec
                   and spec.requested_destination)
    if destination:
        hosts += [destination.host] if 'host' in destination else []
        nodes += [destination.node] if 'node' in destination else []
    if (any(name and name.lower() != host.lower() for name in hosts)
            or any(name and name != node for name in nodes)):
        raise RequestRefused(
            'the request names another host than the planned one')
