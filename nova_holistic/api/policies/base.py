# SPDX-License-Identifier: Apache-2.0
"""Base rules for the other rules."""

from oslo_policy import policy

ADMIN = 'rule:holistic:admin'
ADMIN_OR_SERVICE = 'rule:holistic:admin_or_service'
MEMBER = 'rule:holistic:project_member_or_admin'
READER = 'rule:holistic:project_reader_or_admin'

RULES = (
    policy.RuleDefault(
        'holistic:admin', 'role:admin',
        description='Who administers the cloud: sees hosts and topology, and '
                    'the groups of every project.'),
    policy.RuleDefault(
        'holistic:admin_or_service', 'role:admin or role:service',
        description='Administrators, and other services of the cloud.'),
    policy.RuleDefault(
        'holistic:project_member',
        'role:member and project_id:%(project_id)s',
        description='Who may create, change and release groups of a project.'),
    policy.RuleDefault(
        'holistic:project_reader',
        'role:reader and project_id:%(project_id)s',
        description='Who may see the groups of a project.'),
    policy.RuleDefault(
        'holistic:project_member_or_admin',
        'rule:holistic:project_member or rule:holistic:admin',
        description='Members of the project, and administrators.'),
    policy.RuleDefault(
        'holistic:project_reader_or_admin',
        'rule:holistic:project_reader or rule:holistic:admin',
        description='Readers of the project, and administrators.'),
)
