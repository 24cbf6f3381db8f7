# SPDX-License-Identifier: Apache-2.0
"""Rules of who may do what, as oslo.policy defaults in code."""

from oslo_policy import policy

RULES = (
    policy.RuleDefault(
        'holistic:admin', 'role:admin',
        description='Who administers the cloud: sees hosts and topology.'),
    policy.RuleDefault(
        'holistic:project_member',
        'role:member and project_id:%(project_id)s',
        description='Who may create, change and release groups of a project.'),
    policy.RuleDefault(
        'holistic:project_reader',
        'role:reader and project_id:%(project_id)s',
        description='Who may see the groups of a project.'),
)


def list_rules():
    """Every rule, for oslopolicy-sample-generator."""
    return RULES
