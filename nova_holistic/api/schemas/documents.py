# SPDX-License-Identifier: Apache-2.0
"""Where a body has a group document, or a member description.

Those are judged by ``documents.group.parse_group``, which bounds its work and
knows the policies that are installed. Here they are any object at all, to be
found by identity by whoever describes the API.
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
"""A member description, and the group it goes to."""
