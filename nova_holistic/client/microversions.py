# SPDX-License-Identifier: Apache-2.0
"""The first versions of the API with the features that a request needs."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.groups.volumes import has_volumes_at_plan_time

ADOPTION = '1.1'
"""Adopts and detaches servers."""

BINDINGS = '1.1'
"""Has bindings."""

SERVERS = '1.2'
"""Members have the key ``server``."""

ACTIONS = '1.2'
"""Lists actions of servers after an update."""

OBJECTIVE_VALUES = '1.4'
"""Groups have value, bound and gap of their plan."""

WARNINGS = '1.5'
"""Plans have warnings."""

VOLUMES = '1.6'
"""Groups may have volumes."""

CREATED_VOLUMES = '1.7'
"""Engines create volumes."""


def with_volumes(document: Mapping[str, Any]) -> str:
    """The version that a group with volumes needs.

    :param document: a group document
    """
    return CREATED_VOLUMES if has_volumes_at_plan_time(document) else VOLUMES
