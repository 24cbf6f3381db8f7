# SPDX-License-Identifier: Apache-2.0
"""Rules for statistics of hosts."""

from oslo_policy import policy

from nova_holistic.api.policies import base

RULES = (
    policy.DocumentedRuleDefault(
        'holistic:hosts:update_statistics', base.ADMIN_OR_SERVICE,
        'Report statistics that were measured on a host.',
        [{'method': 'PUT', 'path': '/v1/hosts/{host}/statistics'}],
        scope_types=['system', 'project']),
)
