# SPDX-License-Identifier: Apache-2.0
"""Who may do what with plans that hold nothing."""

from oslo_policy import policy

from nova_holistic.api.policies import base

RULES = (
    policy.DocumentedRuleDefault(
        'holistic:plans:create', base.MEMBER,
        'Ask for a plan that holds nothing.',
        [{'method': 'POST', 'path': '/v1/plans'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        'holistic:plans:show', base.READER,
        'Show a plan that holds nothing.',
        [{'method': 'GET', 'path': '/v1/plans/{plan_id}'}],
        scope_types=['project']),
)
