# SPDX-License-Identifier: Apache-2.0
"""keystoneauth adapters that send their user in the headers.

The embedded cloud has no Keystone. Nova and Placement read the user, project
and roles from the headers that the middleware auth_token would have set.
"""

from keystoneauth1 import adapter, noauth, session

COMPUTE_MICROVERSION = '2.96'
PLACEMENT_MICROVERSION = '1.39'

ADMIN_ROLES = ('reader', 'member', 'admin')
PROJECT_ROLES = ('reader', 'member')


class HeaderIdentity(noauth.NoAuth):
    """One user in one project with some roles."""

    def __init__(self, user_id, project_id, roles):
        super().__init__()
        self.user_id = user_id
        self.project_id = project_id
        self.roles = tuple(roles)

    def get_headers(self, session, **kwargs):
        return {
            'X-Auth-Token': f'{self.user_id}:{self.project_id}',
            'X-Identity-Status': 'Confirmed',
            'X-User-Id': self.user_id,
            'X-Project-Id': self.project_id,
            'X-Roles': ','.join(self.roles),
        }

    def get_user_id(self, session, **kwargs):
        return self.user_id

    def get_project_id(self, session, **kwargs):
        return self.project_id


def make_adapter(service_type, endpoint, identity, microversion,
                 raise_exc=True):
    """An Adapter for one endpoint, with the given identity.

    :param microversion: default microversion; None: the service's default
    :param raise_exc: whether the Adapter raises an error for an HTTP status
        of 400 or higher
    """
    own = session.Session(auth=identity)
    # No proxy and no password from the environment is for a server in this
    # process.
    own.session.trust_env = False
    return adapter.Adapter(
        own, service_type=service_type,
        endpoint_override=endpoint, default_microversion=microversion,
        raise_exc=raise_exc)
