# SPDX-License-Identifier: Apache-2.0
"""Schemas of the requests about existing servers as members."""

from nova_holistic.api.schemas import common, members
from nova_holistic.documents.schemas import group

STRICT = {
    'type': 'boolean',
    'title': 'Whether servers that violate a hard policy are refused.'}

ADOPT = common.enveloped(
    'adopt', {**group.ADOPT, 'minProperties': 1,
              'title': 'UUIDs of servers by the paths of their members.'},
    strict=STRICT)
DETACH = common.enveloped('detach', common.whole({'member': members.PATH}))
