# SPDX-License-Identifier: Apache-2.0
"""The lease of the places that a step of a resource needs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from oslo_log import log
from oslo_utils import timeutils

from nova_holistic.client.errors import Refused
from nova_holistic.client.groups import Groups
from nova_holistic.heat.group_revision import change

LOG = log.getLogger(__name__)
_ROUNDING = 60
"""Seconds. A new lease began shortly before it is compared."""


def hold(groups: Groups, group_id: str, seconds: int) -> None:
    """Hold the places of a group as long as Heat may need to create their
    servers, for example in batches with pauses. A longer lease remains.

    :param seconds: time limit of the step
    """
    def extend(before: Mapping[str, Any]) -> None:
        if before['members'].get('planned') and _ends_within(
                before['lease_expires_at'], seconds - _ROUNDING):
            groups.extend(group_id, seconds)

    try:
        change(groups, group_id, extend)
    except Refused as error:
        if error.status != 403:
            raise
        # The longest lease of the user is shorter. The step may be faster.
        LOG.warning('Group %s: the lease is not extended to %s seconds: %s',
                    group_id, seconds, error)


def _ends_within(end: str | None, seconds: int) -> bool:
    """Whether a lease ends within these seconds; None never ends."""
    return end is not None and timeutils.normalize_time(
        timeutils.parse_isotime(end)) < (
            timeutils.utcnow() + timedelta(seconds=seconds))
