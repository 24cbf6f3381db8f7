# SPDX-License-Identifier: Apache-2.0
"""The users of the cloud, and the catalog of its services."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from keystoneauth1.adapter import Adapter
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from tools.cloud import heat, manual
from tools.cloud.layout import Layout, REGION


@dataclass(frozen=True, slots=True)
class User:
    name: str
    project: str
    roles: tuple[str, ...]


ADMIN = User('admin', 'admin', ('admin',))
SERVICE = User('service', 'service', ('admin', 'service'))
HOLISTIC = User('holistic', 'service', manual.roles())
MEMBER = User('demo', 'demo', ('member',))
READER = User('demo-reader', 'demo', ('reader',))
OTHER_USER = User('other', 'other', ('member',))
USERS = {user.name: user for user in
         (ADMIN, SERVICE, HOLISTIC, MEMBER, READER, OTHER_USER)}


def session(layout: Layout, user: User, url: str = '',
            scope: Mapping[str, str] | None = None,
            timeout: float | None = None) -> Session:
    """Return a Keystone session of a user of the cloud.

    :param url: URL of another Keystone than the first one
    :param scope: scope options of the token; the default is the user's project
    :param timeout: timeout of a request in seconds
    """
    if scope is None:
        scope = {'project_name': user.project, 'project_domain_id': 'default'}
    adapter = Session(auth=v3.Password(
        url or layout.identity, username=user.name,
        password=layout.password, user_domain_id='default', **scope),
        timeout=timeout)
    # Requests to loopback must not use a proxy.
    adapter.session.trust_env = False
    return adapter


def variables(layout: Layout, user: User) -> dict[str, str]:
    """Return the environment variables of the ``openstack`` command."""
    return {
        'OS_AUTH_TYPE': 'password', 'OS_AUTH_URL': layout.identity,
        'OS_USERNAME': user.name, 'OS_PASSWORD': layout.password,
        'OS_PROJECT_NAME': user.project, 'OS_USER_DOMAIN_ID': 'default',
        'OS_PROJECT_DOMAIN_ID': 'default', 'OS_REGION_NAME': REGION,
        'OS_IDENTITY_API_VERSION': '3', 'NO_PROXY': '127.0.0.1',
        'no_proxy': '127.0.0.1'}


def fill(layout: Layout) -> None:
    """Create users, projects and the catalog in a new Keystone."""
    keystone = Adapter(session(layout, ADMIN),
                       endpoint_override=layout.identity)

    def make(kind: str, **values: object) -> str:
        return keystone.post(f'/{kind}s', json={kind: values}).json()[
            kind]['id']

    roles = {role['name']: role['id']
             for role in keystone.get('/roles').json()['roles']}
    projects: dict[str, str] = {}
    for user in (SERVICE, HOLISTIC, MEMBER, READER, OTHER_USER):
        if user.project not in projects:
            projects[user.project] = make('project', name=user.project,
                                          domain_id='default')
        user_id = make('user', name=user.name, password=layout.password,
                       domain_id='default')
        for role in user.roles:
            keystone.put(f'/projects/{projects[user.project]}/users/{user_id}'
                         f'/roles/{roles[role]}')
    if layout.heat:
        _make_stack_domain(layout, keystone, make, roles['admin'])
        make('role', name='heat_stack_user')
    _make_endpoints(layout, make)


def _make_endpoints(layout: Layout, make: Callable[..., str]) -> None:
    internal = ('public', 'internal')
    # The command of the manual: openstack service create --name NAME TYPE
    words, = manual.commands('openstack service create')
    services = [
        ('compute', 'nova', '/v2.1', internal),
        ('placement', 'placement', '', internal),
        ('image', 'glance', '', internal),
        ('network', 'network', '', internal),
        (words[-1], words[-2], '', manual.interfaces())]
    if layout.heat:
        services.append(
            ('orchestration', 'heat', '/v1/%(tenant_id)s', internal))
    for kind, name, path, interfaces in services:
        service = make('service', type=kind, name=name)
        for interface in interfaces:
            make('endpoint', service_id=service, interface=interface,
                 url=layout.url(name, path), region_id=REGION)


def _make_stack_domain(layout: Layout, keystone: Adapter,
                       make: Callable[..., str], admin_role: str) -> None:
    """Create a domain for the users that Heat creates, and its administrator.
    """
    domain = make('domain', name=heat.DOMAIN)
    user = make('user', name=heat.DOMAIN_ADMIN, password=layout.password,
                domain_id=domain)
    keystone.put(f'/domains/{domain}/users/{user}/roles/{admin_role}')
