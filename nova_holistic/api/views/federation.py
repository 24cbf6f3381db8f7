# SPDX-License-Identifier: Apache-2.0
"""Children of a parent of a federation, as users see them."""

from typing import Any

from nova_holistic.api.views import common
from nova_holistic.federation.credentials.registrations import UserChild


def child(registration: UserChild) -> dict[str, Any]:
    return {'name': registration.name, 'keystone': registration.keystone,
            'registered_at': common.time(registration.registered_at)}
