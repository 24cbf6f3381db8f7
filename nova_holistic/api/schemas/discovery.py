# SPDX-License-Identifier: Apache-2.0
"""Responses with the versions of the API."""

from nova_holistic.api.schemas import common

_VERSION = common.whole({
    'id': common.ANY_TEXT, 'status': {'enum': ['CURRENT']},
    'min_version': common.ANY_TEXT, 'max_version': common.ANY_TEXT,
    'links': common.LINKS})

VERSIONS = common.enveloped(
    'versions', {'type': 'array', 'items': _VERSION})
VERSION = common.enveloped('version', _VERSION)
