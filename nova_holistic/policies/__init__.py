# SPDX-License-Identifier: Apache-2.0
"""Policies and relationships: one file each, found by their entry points."""

from types import MappingProxyType

from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic import plugins

POLICIES = 'nova_holistic.policies'
RELATIONSHIPS = 'nova_holistic.relationships'


def load_policy_types() -> PolicyTypes:
    """Every installed policy and relationship, by the names documents use.

    An entry point that cannot be imported is an error. Otherwise, documents
    with its policy would be refused as if the policy did not exist.
    """
    return PolicyTypes(MappingProxyType(plugins.load_all(POLICIES)),
                       MappingProxyType(plugins.load_all(RELATIONSHIPS)))
