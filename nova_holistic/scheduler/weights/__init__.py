# SPDX-License-Identifier: Apache-2.0
"""Host weighers for nova.conf's [filter_scheduler] weight_classes."""

from nova_holistic import plugins

NAMESPACE = 'nova_holistic.scheduler.weighers'


def all_weighers() -> list[type]:
    """Every weigher class that has an entry point."""
    return list(plugins.load_all(NAMESPACE).values())
