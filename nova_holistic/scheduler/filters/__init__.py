# SPDX-License-Identifier: Apache-2.0
"""Host filters for nova.conf's [filter_scheduler] available_filters."""

from nova_holistic import plugins

NAMESPACE = 'nova_holistic.scheduler.filters'


def all_filters() -> list[type]:
    """Every filter class that has an entry point."""
    return list(plugins.load_all(NAMESPACE).values())
