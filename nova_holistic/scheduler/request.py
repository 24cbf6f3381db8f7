# SPDX-License-Identifier: Apache-2.0
"""A request asks for what its member was planned for, and for no more."""

from nova import exception
from nova import objects
from nova.scheduler import request_filter
from nova.scheduler import utils

from nova_holistic.model.requirements import Requirements
from nova_holistic.scheduler.refusal import Refused


def resource_request(context, spec: 'objects.RequestSpec', host_manager
                     ) -> utils.ResourceRequest:
    """What stock Nova would ask of Placement; changes the spec as it does.

    :raises Refused: one of Nova's request filters finds that no host will do
    """
    zone = spec.availability_zone
    # Nova's filter for zones reads every host of the zone, and the one host
    # that matters here says itself which zone it is in.
    spec.availability_zone = None
    try:
        request_filter.process_reqspec(context, spec)
        return utils.resources_from_request_spec(context, spec, host_manager)
    except (exception.RequestFilterFailed, exception.NoValidHost) as error:
        raise Refused(error.format_message()) from error
    finally:
        spec.availability_zone = zone


def check_match(spec: 'objects.RequestSpec', asked: utils.ResourceRequest,
                requirements: Requirements) -> None:
    """:raises Refused: the description does not say what the request asks"""
    for found, described in (
            _flavors(spec, requirements), _zones(spec, requirements),
            _resources(asked, requirements)):
        if found != described:
            raise Refused(
                f'the request does not match the description of the member: '
                f'it asks for {found}, the description says {described}')
    if asked.get_num_of_suffixed_groups():
        raise Refused(
            'the request does not match the description of the member: it '
            'asks for resources of more than the host itself, such as ports '
            'or devices, which are not planned')
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


def _resources(asked, requirements):
    described = {name: amount for name, amount
                 in requirements.resources.items() if amount}
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
            raise Refused(
                f'the request does not match the description of the member: '
                f'it {verb} the trait {", ".join(lacking)}, of which the '
                f'description says nothing')


def check_destination(spec: 'objects.RequestSpec', host: str, node: str
                      ) -> None:
    """:raises Refused: the request names another host than the planned one"""
    hosts = list(spec.force_hosts or []) if 'force_hosts' in spec else []
    nodes = list(spec.force_nodes or []) if 'force_nodes' in spec else []
    destination = ('requested_destination' in spec
                   and spec.requested_destination)
    if destination:
        hosts += [destination.host] if 'host' in destination else []
        nodes += [destination.node] if 'node' in destination else []
    if (any(name and name.lower() != host.lower() for name in hosts)
            or any(name and name != node for name in nodes)):
        raise Refused('the request names another host than the planned one')
