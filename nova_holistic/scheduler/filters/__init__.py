# SPDX-License-Identifier: Apache-2.0
"""Host filters for nova.conf's [filter_scheduler] available_filters."""

import stevedore

NAMESPACE = 'nova_holistic.scheduler.filters'


def all_filters() -> list[type]:
    """Every filter class that has an entry point."""
    return [extension.plugin
            for extension in stevedore.ExtensionManager(NAMESPACE)]
