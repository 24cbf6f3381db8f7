# SPDX-License-Identifier: Apache-2.0
"""The key ``server`` of member descriptions, in requests."""

from nova_holistic.api.call import Call
from nova_holistic.api.requests import microversions
from nova_holistic.documents.servers.positions import server_positions
from nova_holistic.exceptions import InvalidDocument


def must_be_known(call: Call) -> None:
    """
    :raises InvalidDocument: the version of the request does not have the key
    """
    if microversions.has(call.request, microversions.SERVERS):
        return
    for place in server_positions(call.body.get('group', call.body)):
        raise InvalidDocument(
            place, f'requires version {microversions.SERVERS} of the API')
