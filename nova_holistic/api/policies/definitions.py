# SPDX-License-Identifier: Apache-2.0
"""Rules for the contents of a group document."""

from oslo_policy import policy

from nova_holistic.api.policies import base

EXCLUSIVE_LEVEL = 'holistic:definitions:exclusive_level'
HOST_LOCATION = 'holistic:definitions:host_location'

_OPERATIONS = [
    {'method': 'POST', 'path': '/v1/groups'},
    {'method': 'PUT', 'path': '/v1/groups/{group_id}'},
    {'method': 'POST', 'path': '/v1/groups/{group_id}/members'},
    {'method': 'POST', 'path': '/v1/plans'},
]

RULES = (
    policy.DocumentedRuleDefault(
        EXCLUSIVE_LEVEL, base.ADMIN,
        'Declare a hard policy, such as exclusive, that closes domains of a '
        'level above host to all other servers of the cloud. The check may '
        "use the level, for example: rule:holistic:admin or 'rack':%(level)s.",
        _OPERATIONS, scope_types=['project']),
    policy.DocumentedRuleDefault(
        HOST_LOCATION, base.ADMIN,
        'Name a host in a location, hard or as a preference.',
        _OPERATIONS, scope_types=['project']),
)
