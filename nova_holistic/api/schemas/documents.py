# SPDX-License-Identifier: Apache-2.0
"""Where a body has a group document, or a member description.

Those are judged by ``documents.group.parse_group``, which bounds its work and
knows the policies that are installed. Here they are any object at all, to be
found by identity by whoever describes the API.
"""

GROUP = {'type': 'object', 'title': 'A group document.'}
MEMBER = {'type': 'object', 'title': 'A member description.'}
