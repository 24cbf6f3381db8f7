# SPDX-License-Identifier: Apache-2.0
"""Groups that have fewer servers than they desire."""

from typing import Any


def is_smaller(group: dict[str, Any], before: int | None,
               known: list[dict[str, str]]) -> bool:
    """Whether the request was carried out and the group has fewer servers
    than it desires, as their minimum permits.

    :param known: reasons of the group before the request. Those for missing
        servers remain if the request does not change the definition
    """
    if not any(count['missing'] for count in group['counts']):
        return False
    if before is not None:
        return group['revision'] > before
    return group['status'] != 'degraded' and not group['members'].get(
        'lost') and all(reason in known for reason in group['reasons'])
