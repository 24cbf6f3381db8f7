# SPDX-License-Identifier: Apache-2.0
"""Objectives: one file each, found by their entry points."""

from stevedore.exception import NoMatches
from stevedore.extension import ExtensionManager

from nova_holistic import exceptions
from nova_holistic.model.objective import Objective

NAMESPACE = 'nova_holistic.objectives'


def load_objective(name: str) -> Objective:
    """The installed objective of that name.

    :raises UnknownPlugin: no objective of that name is installed
    """
    manager = ExtensionManager(
        NAMESPACE, on_load_failure_callback=_load_failed)
    try:
        return manager[name].plugin()
    except (KeyError, NoMatches):
        known = ', '.join(sorted(manager.names()))
        raise exceptions.UnknownPlugin(
            f'unknown objective {name!r}; known are {known}') from None


def _load_failed(manager, entry_point, error: Exception) -> None:
    raise error
