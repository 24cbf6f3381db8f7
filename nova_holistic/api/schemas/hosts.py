# SPDX-License-Identifier: Apache-2.0
"""Schemas of the requests about hosts."""

from nova_holistic.api.schemas import common
from nova_holistic.messaging import payloads

STATISTICS = common.enveloped('statistics', {
    'type': 'object',
    'minProperties': 1,
    'maxProperties': payloads.MAX_STATISTICS,
    'propertyNames': {
        'description': '1 to 255 letters, digits, "_", "." or "-"',
        'pattern': rf'^{payloads.STATISTIC_NAME.pattern}\Z'},
    'additionalProperties': {'type': 'number'},
})
