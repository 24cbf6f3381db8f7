# SPDX-License-Identifier: Apache-2.0
"""Why a group is not placed, as clients see it."""

from collections.abc import Iterable, Mapping


def shown(reasons: Iterable[Mapping[str, str]],
          hosts: bool) -> list[dict[str, str]]:
    """
    :param hosts: whether names of hosts and domains may be told
    """
    return [{'at': reason['at'], 'message': reason['message']}
            for reason in reasons]
