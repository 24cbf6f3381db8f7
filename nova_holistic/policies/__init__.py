# SPDX-License-Identifier: Apache-2.0
"""Policies and relationships: one file each, found by their entry points."""

from collections.abc import Mapping
from types import MappingProxyType

from stevedore.extension import ExtensionManager

from nova_holistic.model.policy_types import PolicyTypes

POLICIES = 'nova_holistic.policies'
RELATIONSHIPS = 'nova_holistic.relationships'


def load_policy_types() -> PolicyTypes:
    """Every installed policy and relationship, by the names documents use.

    An entry point that cannot be imported is an error: left out, its policy
    would be refused in documents as if it did not exist.
    """
    return PolicyTypes(_loaded(POLICIES), _loaded(RELATIONSHIPS))


def _loaded(namespace: str) -> Mapping[str, type]:
    manager = ExtensionManager(
        namespace, on_load_failure_callback=_load_failed)
    return MappingProxyType({e.name: e.plugin for e in manager})


def _load_failed(manager, entry_point, error: Exception) -> None:
    raise error
