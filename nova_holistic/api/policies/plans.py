# SPDX-License-Identifier: Apache-2.0
"""Rules for plans without holds."""

from oslo_policy import policy

from nova_holistic.api.policies import base

RULES = (
    policy.DocumentedRuleDefault(
        'holistic:plans:create', base.MEMBER,
        'Request a plan without holds.',
        [{'method': 'POST', 'path': '/v1/plans'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        'holistic:plans:show', base.READER,
        'Show a plan without holds.',
        [{'method': 'GET', 'path': '/v1/plans/{plan_id}'}],
        scope_types=['project']),
)
