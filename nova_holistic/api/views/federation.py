# SPDX-License-Identifier: Apache-2.0
"""Children of a parent of a federation, as users see them."""

from typing import Any

from nova_holistic.api.views import common
from nova_holistic.federation.credentials.registrations import UserChild


def child(found: UserChild) -> dict[str, Any]:
    return {'name': found.name, 'keystone': found.keystone,
            'registered_at': common.time(found.registered_at)}
