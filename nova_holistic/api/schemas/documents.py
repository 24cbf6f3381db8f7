# SPDX-License-Identifier: Apache-2.0
"""Schemas for the parts of a body that are a group document or a member
description.

``documents.groups.group.parse_group`` validates these parts, because it limits
its work and knows the installed policies. Here they accept any object. The
generator of the API description recognises them by identity.
"""

from nova_holistic.documents.schemas import group

GROUP = {'type': 'object', 'title': 'A group document.'}
MEMBER = {
    'type': 'object',
    'required': ['name'],
    'properties': {
        'name': group.NAME,
        'group': {
            'type': 'string',
            'description': 'the path of a nested group, or empty for the top',
            'maxLength': group.MAX_PATH,
            'pattern': r'^([A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*)?\Z'}},
}
"""A member description, and the path of its nested group."""
SERVER = group.MEMBER['properties']['server']
