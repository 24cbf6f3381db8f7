# SPDX-License-Identifier: Apache-2.0
"""A plugin is one entry point, found by its namespace and name."""

from typing import Any

from stevedore.extension import ExtensionManager
from stevedore.named import NamedExtensionManager

from nova_holistic.exceptions import UnknownPlugin


def load_all(namespace: str) -> dict[str, Any]:
    """Every installed plugin of a namespace, by name.

    A plug-in that cannot be imported is an error. Otherwise, it would seem to
    be missing.
    """
    manager = ExtensionManager(
        namespace, on_load_failure_callback=_load_failed)
    return {extension.name: extension.plugin for extension in manager}


def load(namespace: str, name: str, kind: str) -> Any:
    """The plugin of that name. No other plugin is imported.

    :param kind: kind of the plugin for the message, such as ``solver``
    :raises UnknownPlugin: nothing of that name is installed
    """
    found = NamedExtensionManager(
        namespace, [name], on_load_failure_callback=_load_failed,
        on_missing_entrypoints_callback=lambda names: None)
    for extension in found:
        return extension.plugin
    known = ', '.join(sorted(
        entry.name for entry in found.list_entry_points())) or 'none'
    raise UnknownPlugin(f'unknown {kind} {name!r}; known are {known}')


def _load_failed(manager, entry_point, error: Exception) -> None:
    raise error
