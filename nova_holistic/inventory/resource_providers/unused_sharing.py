# SPDX-License-Identifier: Apache-2.0
"""Providers that share their resources in a way that plans do not use.

Placement does not distinguish compute nodes and nested providers from other
providers with the trait MISC_SHARES_VIA_AGGREGATE, but neither case works:

- It proposes all resource classes of a compute node, also processors, for the
  hosts of its aggregates. Nova cannot use such a proposal (its bug 1784020).
- If the root of a nested sharing provider cannot take a server itself, GET
  /allocation_candidates returns status 500 (Placement 16: KeyError in
  placement.objects.allocation_candidate._alloc_candidates_multiple_providers).

Therefore plans use only root providers without a compute node.
"""

from collections.abc import Mapping

from oslo_log import log as logging

from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.inventory.resource_providers.provider_source import (
    Listing, roots_of, Sharing, SHARING_TRAIT)

LOG = logging.getLogger(__name__)


class UnusedSharing:
    """Logs a warning for each such provider, once."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def without_nested(self, sharing: Mapping[str, Sharing],
                       listing: Listing) -> Mapping[str, Sharing]:
        """The providers that plans use, without nested providers.

        :param sharing: providers outside the trees of compute nodes
        """
        nested = sharing.keys() & roots_of(listing).keys()
        for uuid in sorted(nested):
            self._warn(uuid, f'Provider {sharing[uuid].name} below another '
                       'provider')
        return {uuid: each for uuid, each in sharing.items()
                if uuid not in nested}

    def check_computes(self, providers: Mapping[str, Provider]) -> None:
        """
        :param providers: the root providers of compute nodes, by UUID
        """
        for uuid, provider in providers.items():
            if SHARING_TRAIT in provider.traits:
                self._warn(uuid, f'Compute node {uuid}')
            for each in provider.below:
                if SHARING_TRAIT in each.traits:
                    self._warn(each.uuid,
                               f'Provider {each.name} below a compute node')

    def _warn(self, uuid: str, title: str) -> None:
        if uuid not in self._known:
            self._known.add(uuid)
            LOG.warning(
                '%s has the trait %s. Plans do not use its resources for '
                'other hosts: create a root provider without a compute node '
                'for resources that hosts share', title, SHARING_TRAIT)
