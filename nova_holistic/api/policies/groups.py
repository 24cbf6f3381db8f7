# SPDX-License-Identifier: Apache-2.0
"""Rules for operations on groups."""

from oslo_policy import policy

from nova_holistic.api.policies import base

PREFIX = 'holistic:groups:'
LIST_ALL_PROJECTS = PREFIX + 'list_all_projects'
SHOW_HOSTS = PREFIX + 'show_hosts'
UNLIMITED_LEASE = PREFIX + 'unlimited_lease'
BOOT = PREFIX + 'boot'
CREATE_VOLUMES = PREFIX + 'create_volumes'
EXCEED_LIMITS = PREFIX + 'exceed_limits'
APPLY_ACTIONS = PREFIX + 'apply_actions'

_GROUPS = '/v1/groups'
_GROUP = '/v1/groups/{group_id}'
_PLACEMENTS = _GROUP + '/placements'
_EVENTS = _GROUP + '/events'
_BINDINGS = _GROUP + '/bindings'


def _rule(name: str, check: str, description: str,
          *operations: tuple[str, str]) -> policy.DocumentedRuleDefault:
    return policy.DocumentedRuleDefault(
        PREFIX + name, check, description,
        [{'method': method, 'path': path} for method, path in operations],
        scope_types=['project'])


RULES = (
    _rule('create', base.MEMBER, 'Create a group.', ('POST', _GROUPS)),
    _rule('boot', base.MEMBER,
          'Create a group whose servers are created by an engine, with the '
          'rights of the user.', ('POST', _GROUPS)),
    _rule('create_volumes', base.MEMBER,
          'Create a group whose volumes are created by an engine, with the '
          'rights of the user.', ('POST', _GROUPS)),
    _rule('unlimited_lease', base.ADMIN,
          'Create a group without a lease, or with a lease that is longer '
          'than [holistic_api] max_lease.',
          ('POST', _GROUPS), ('POST', _GROUP + '/extend')),
    _rule('exceed_limits', base.ADMIN,
          'Have more groups, members and plans than the limits allow.',
          ('POST', _GROUPS), ('PUT', _GROUP), ('POST', _GROUP + '/members'),
          ('POST', _GROUP + '/replan'), ('POST', '/v1/plans')),
    _rule('list', base.READER, 'List the groups of a project.',
          ('GET', _GROUPS)),
    _rule('list_all_projects', base.ADMIN,
          'List groups of another project, or of all.', ('GET', _GROUPS)),
    _rule('show', base.READER, 'Show a group.', ('GET', _GROUP)),
    _rule('placements', base.READER,
          'Show the state and the server of each member of a group.',
          ('GET', _PLACEMENTS)),
    _rule('events', base.READER, 'Show the history of a group.',
          ('GET', _EVENTS)),
    _rule('bindings', base.READER,
          'List the server groups of Nova that are bound to members of a '
          'group.', ('GET', _BINDINGS)),
    _rule('bind', base.MEMBER,
          'Bind a server group of Nova to a member of a group.',
          ('PUT', _BINDINGS + '/{target}')),
    _rule('unbind', base.MEMBER, 'End the binding of a server group.',
          ('DELETE', _BINDINGS + '/{target}')),
    _rule('show_hosts', base.ADMIN,
          'See the hosts and domains that members are placed in, and reasons '
          'that may name them.',
          ('GET', _PLACEMENTS), ('GET', _EVENTS), ('GET', _GROUP),
          ('GET', _GROUPS),
          ('GET', '/v1/plans/{plan_id}')),
    _rule('update', base.MEMBER, 'Replace the definition of a group.',
          ('PUT', _GROUP)),
    _rule('apply_actions', base.ADMIN,
          'Let an engine resize and migrate servers as an update of their '
          'group requires. The engine acts with its own rights in Nova.',
          ('PUT', _GROUP)),
    _rule('delete', base.MEMBER, 'Delete a group.', ('DELETE', _GROUP)),
    _rule('release', base.MEMBER,
          'Free the planned capacity of a group that no server has claimed.',
          ('POST', _GROUP + '/release')),
    _rule('extend', base.MEMBER, "Extend a group's lease.",
          ('POST', _GROUP + '/extend')),
    _rule('replan', base.MEMBER, 'Plan lost members of a group again.',
          ('POST', _GROUP + '/replan')),
    _rule('repair', base.ADMIN,
          'See which live migrations would restore the hard policies of a '
          'group, and carry them out.', ('POST', _GROUP + '/repair')),
    _rule('add_members', base.MEMBER, 'Add members to a group.',
          ('POST', _GROUP + '/members')),
    _rule('adopt', base.MEMBER,
          'Let existing servers become members of a group.',
          ('POST', _GROUP + '/adopt')),
    _rule('detach', base.MEMBER,
          'Take a server out of a group without deleting it.',
          ('POST', _GROUP + '/detach')),
    _rule('remove_members', base.MEMBER, 'Remove a member from a group.',
          ('DELETE', _GROUP + '/members/{path}')),
)
