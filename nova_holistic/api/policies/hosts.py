# SPDX-License-Identifier: Apache-2.0
"""Who may tell what of hosts."""

from oslo_policy import policy

from nova_holistic.api.policies import base

RULES = (
    policy.DocumentedRuleDefault(
        'holistic:hosts:update_statistics', base.ADMIN_OR_SERVICE,
        'Tell what was measured on a host.',
        [{'method': 'PUT', 'path': '/v1/hosts/{host}/statistics'}],
        scope_types=['system', 'project']),
)
