# SPDX-License-Identifier: Apache-2.0
"""Policies: one file each, found by their entry points."""

from collections.abc import Mapping
from types import MappingProxyType

from stevedore.extension import ExtensionManager

from nova_holistic.model.policy import Policy

NAMESPACE = 'nova_holistic.policies'


def load_policy_types() -> Mapping[str, type[Policy]]:
    """Every installed policy, by the name that documents use.

    An entry point that cannot be imported is an error: left out, its policy
    would be refused in documents as if it did not exist.
    """
    manager = ExtensionManager(
        NAMESPACE, on_load_failure_callback=_load_failed)
    return MappingProxyType({e.name: e.plugin for e in manager})


def _load_failed(manager, entry_point, error: Exception) -> None:
    raise error
