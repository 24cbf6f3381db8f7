# SPDX-License-Identifier: Apache-2.0
"""The API on a real table, with an engine that the test controls."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
import json

from oslo_config import cfg
from oslo_policy import opts as policy_opts
import webob

from nova_holistic.api.app import AppParts, make_app
from nova_holistic import conf as options
from nova_holistic.messaging.results import Released, ShownBinding
from nova_holistic.table.records import GroupStatus, PlanStatus

NOON = datetime(2030, 1, 1, 12)

SHOP = {'name': 'shop', 'members': [
    {'name': 'web', 'resources': {'VCPU': 1}},
    {'name': 'node', 'count': 3, 'resources': {'VCPU': 2}}]}


@dataclass(frozen=True)
class Token:
    """The content of a token of Keystone."""

    user: str = 'ann'
    project: str | None = 'blue'
    roles: tuple = ('member', 'reader')
    more: dict = field(default_factory=dict)

    def headers(self):
        project = {'X-Project-Id': self.project} if self.project else {}
        return {'X-Identity-Status': 'Confirmed', 'X-User-Id': self.user,
                'X-Roles': ','.join(self.roles), **project, **self.more}


MEMBER = Token()
READER = replace(MEMBER, user='rob', roles=('reader',))
ADMIN = Token('root', 'admin', ('admin', 'member', 'reader'))
OTHER_PROJECT = Token('eve', 'green')
SYSTEM = Token('root', None, ('admin', 'member', 'reader'),
               {'OpenStack-System-Scope': 'all'})
DOMAIN = Token('dom', None, ('admin', 'member', 'reader'),
               {'X-Domain-Id': 'default'})
UNSCOPED = Token('una', None, ())
OTHER_SERVICE = Token('telemetry', 'service', ('service',))


def shown_binding(server_group, path='node', status='active'):
    """A binding as an engine returns it."""
    return ShownBinding('server-group', server_group, path,
                        NOON.isoformat(), status)


class Engines:
    """Records the calls of the API, and does what the test has set."""

    def __init__(self):
        self.asked = []
        self.acts = {}

    def _do(self, name, *words):
        self.asked.append((name, *words))
        return self.acts.get(name, lambda *_: None)(*words)

    def plan_group(self, context, group_uuid):
        self._do('plan_group', group_uuid)

    def plan(self, context, plan_uuid):
        self._do('plan', plan_uuid)

    def release(self, context, group_uuid, members, revision):
        return (self._do('release', group_uuid, members, revision)
                or Released((), ()))

    def extend(self, context, group_uuid, seconds, revision):
        self._do('extend', group_uuid, seconds, revision)

    def delete(self, context, group_uuid, revision):
        self._do('delete', group_uuid, revision)

    def repair(self, context, group_uuid):
        return (self._do('repair', group_uuid)
                or {'moves': [], 'planned_again': [], 'reasons': []})

    def bind(self, context, group_uuid, path, server_group):
        return (self._do('bind', group_uuid, path, server_group)
                or shown_binding(server_group, path))

    def bindings(self, context, group_uuid):
        return self.acts.get('bindings', lambda _: ())(group_uuid)

    def update_resource_stats(self, context, name, stats):
        self._do('update_resource_stats', name, stats)


class Service:
    """The API as a client calls it. Its clock moves when the service
    sleeps."""

    def __init__(self, table, engines=None, policies=None, **api):
        self.table = table
        self.engines = engines or Engines()
        self.now = NOON
        self.quota = None
        self.user_rights = None
        self.federation = None
        self.credentials = None
        self.conf = cfg.ConfigOpts()
        options.register_opts(self.conf)
        self.conf([], default_config_files=[], default_config_dirs=[])
        policy_opts.set_defaults(
            self.conf, policy_file=str(policies or 'none.yaml'))
        for name, value in api.items():
            self.conf.set_override(name, value, group='holistic_api')
        self.renew()

    def renew(self):
        """Restart the process with the current options."""
        self.app = make_app(
            self.conf, self.table, self.engines, lambda: self.now,
            AppParts(timer=lambda: (self.now - NOON).total_seconds(),
                     sleep=self.sleep, quota=self.quota,
                     user_rights=self.user_rights,
                     federation=self.federation,
                     credentials=self.credentials))

    def sleep(self, seconds):
        self.now += timedelta(seconds=seconds)

    def ask(self, method, path, body=None, token=MEMBER, headers=None,
            raw=None):
        """The response to a request."""
        request = webob.Request.blank(path, method=method)
        if raw is None and body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            request.body = raw
            request.content_type = 'application/json'
        request.headers.update(token.headers() if token else {})
        request.headers.update(headers or {})
        return request.get_response(self.app)

    def created(self, document=SHOP, token=MEMBER, **more):
        """Create a group; returns the API's document of it."""
        answer = self.ask('POST', '/v1/groups', {'group': document, **more},
                          token)
        assert answer.status_int == 202, answer.text
        return answer.json['group']

    def settle(self, group_uuid, status=GroupStatus.PLANNED, **changes):
        """Perform the task of a group, as an engine does."""
        taken = self.table.tasks.take(
            group_uuid, 'engine-1', self.now, self.now)
        assert taken is not None
        self.table.tasks.finish(
            group_uuid, 'engine-1', {'status': status, **changes})

    def planned(self, document=SHOP, token=MEMBER, **more):
        """A group that was created and planned."""
        group = self.created(document, token, **more)
        self.settle(group['id'])
        return group['id']

    def make_plan(self, plan_uuid, status=PlanStatus.PLANNED, **answer):
        taken = self.table.plans.take(
            plan_uuid, 'engine-1', self.now, self.now)
        assert taken is not None
        self.table.plans.finish(plan_uuid, 'engine-1', status, {
            'status': str(status), **answer}, self.now)


def refusal(answer):
    """The only error of a response: status, code and detail."""
    (error,) = answer.json['errors']
    assert error['status'] == answer.status_int
    return error['status'], error['code'], error['detail']
