# SPDX-License-Identifier: Apache-2.0
"""Schemas of the requests about children of a federation."""

from nova_holistic.api.schemas import common

REGISTER = common.enveloped('credential', common.whole({
    'id': {**common.TEXT, 'title': 'ID of an application credential.'},
    'secret': common.TEXT}))
CHILDREN = common.enveloped('children', {
    'type': 'array', 'items': common.whole({
        'name': common.ANY_TEXT,
        'keystone': {
            **common.ANY_TEXT_OR_NULL,
            'title': 'URL of the identity API of a cloud that needs an '
                     'application credential; null if the cloud accepts the '
                     'tokens of this service.'},
        'registered_at': common.TIME_OR_NULL})})
