# SPDX-License-Identifier: Apache-2.0
"""The right of this service to act for the user of a request."""

from nova_holistic.api.call import Call
from nova_holistic.api import errors
from nova_holistic.boot.errors import TrustRefused
from nova_holistic.boot.trusts import User
from nova_holistic.inventory.errors import ServiceFailed


def grant(call: Call, group_uuid: str, place: str, instead: str) -> str:
    """A new right, encrypted for the row of a group. It is a trust in
    keystone.

    :param place: position in the request that needs the right
    :param instead: what the user can do if the right is refused
    :raises ApiError: 403, keystone refuses the trust
    """
    service, context = call.service, call.context
    try:
        return service.user_rights.grant(
            User(context.user_id, context.project_id, context.auth_token,
                 context.roles), group_uuid, service.clock())
    except TrustRefused as error:
        raise errors.ApiError(
            403, 'trust_refused', f'{place}: keystone does not give this '
            f'service the right to act for you: {error.message}; {instead}'
        ) from error
    except ServiceFailed as error:
        raise errors.ApiError(
            503, 'keystone_unavailable',
            'keystone is unavailable; try again later') from error
