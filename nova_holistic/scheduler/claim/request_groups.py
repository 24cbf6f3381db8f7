# SPDX-License-Identifier: Apache-2.0
"""Compares the granular groups of a request with those of a member."""

from collections.abc import Mapping
from typing import Any

from nova.scheduler import utils
import os_traits

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.scheduler.claim.matching_groups import matching_suffixes
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.table.provider_allocation import ProviderAllocation

_DIFFERENT = 'the request does not match the description of the member: '


def check_match(asked: utils.ResourceRequest,
                requirements: Requirements) -> None:
    """Check that the granular groups of a request, and its ``group_policy``,
    match the description.

    :raises RequestRefused: they do not match
    """
    number = asked.get_num_of_suffixed_groups()
    if number and not requirements.request_groups:
        raise RequestRefused(
            f'{_DIFFERENT}it requests resources of other providers than the '
            'host, such as ports or devices, and the description has no '
            'request_groups')
    if not number and not requirements.request_groups:
        return
    if _suffixes(asked, requirements) is None:
        raise RequestRefused(
            f'{_DIFFERENT}its groups of resources, such as those of its '
            'ports, differ from those of the description')
    if number > 1 and asked.group_policy != requirements.group_policy:
        raise RequestRefused(
            f'{_DIFFERENT}its group_policy is {asked.group_policy}, but that '
            f'of the description is {requirements.group_policy}')


def allocation_request(allocation: ProviderAllocation,
                       asked: utils.ResourceRequest,
                       requirements: Requirements) -> dict[str, Any]:
    """The planned allocation with the suffixes of this request, which Nova
    needs to find the devices of each group.

    :param asked: a request that matches the requirements
    """
    found = allocation.to_placement()
    suffixes = _suffixes(asked, requirements) or {}
    return {**found, 'mappings': {
        suffixes.get(suffix, suffix): providers
        for suffix, providers in found['mappings'].items()}}


def _suffixes(asked: utils.ResourceRequest, requirements: Requirements
              ) -> Mapping[str, str] | None:
    """The suffix in the request of each group of the description; None if
    the groups do not match.

    Groups with equal content are interchangeable if the sets of groups in one
    subtree stay the same.
    """
    return matching_suffixes(
        {each.suffix: _described(each)
         for each in requirements.request_groups},
        requirements.same_subtree,
        {suffix: _content(group) for suffix, group in asked._rg_by_id.items()
         if suffix is not None},
        [frozenset(each) for each in asked._same_subtree if len(each) > 1])


def _content(group: Any) -> tuple:
    # Nova requires this trait of its PCI devices, and all of them have it.
    return (dict(group.resources),
            set(group.required_traits) - {os_traits.OWNER_NOVA},
            set(group.forbidden_traits))


def _described(group: RequestGroup) -> tuple:
    return (dict(group.resources),
            set(group.required_traits) - {os_traits.OWNER_NOVA},
            set(group.forbidden_traits))
