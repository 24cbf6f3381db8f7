# SPDX-License-Identifier: Apache-2.0
"""Rules for the children of a parent of a federation."""

from oslo_policy import policy

from nova_holistic.api.policies import base

_CREDENTIAL = '/v1/children/{child}/credential'

RULES = (
    policy.DocumentedRuleDefault(
        'holistic:federation:children', base.READER,
        'List the clouds in which this parent of a federation places groups.',
        [{'method': 'GET', 'path': '/v1/children'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        'holistic:federation:register', base.MEMBER,
        'Register or delete an application credential for a cloud.',
        [{'method': 'PUT', 'path': _CREDENTIAL},
         {'method': 'DELETE', 'path': _CREDENTIAL}],
        scope_types=['project']),
)
