# SPDX-License-Identifier: Apache-2.0
"""Who may do what: oslo.policy, asked twice about a record.

First, before anything is looked up, whether the caller may do such a thing in
its own project at all: 403. Then, once the record is there, whether it may do
so with this one: 404 for another project's, as if it were not there.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from oslo_policy import policy

from nova_holistic.api.context import RequestContext
from nova_holistic.api.errors import ApiError, forbidden
from nova_holistic.api import policies


class Owned(Protocol):
    """Something that belongs to a project and was made by a user."""

    project_id: str
    user_id: str


class Authority:
    """Threads may share one."""

    def __init__(self, conf):
        """:param conf: with oslo.policy's options registered"""
        # Nova's file, inside nova-api, has rules that are not ours.
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        self._project_only = {
            rule.name for rule in policies.list_rules()
            if rule.scope_types == ['project']}

    def must(self, context: RequestContext, rule: str) -> None:
        """:raises ApiError: 401 without a good token, 403 without the right
        """
        if context.user_id is None:
            raise ApiError(401, 'unauthorized',
                           'a valid token is needed: X-Auth-Token')
        if not self._allows(context, rule, {
                'project_id': context.project_id,
                'user_id': context.user_id}):
            raise forbidden(rule)

    def must_with(self, context: RequestContext, rule: str,
                  record: Owned, missing: ApiError) -> None:
        """
        :param missing: what is raised where there is no such record
        :raises ApiError: that, or 403 in the caller's own project
        """
        if self.may_with(context, rule, record):
            return
        if record.project_id == context.project_id:
            raise forbidden(rule)
        missing.rule = rule
        raise missing

    def may_with(self, context: RequestContext, rule: str,
                 record: Owned, **more: str) -> bool:
        """
        :param more: what else the check of the rule may compare with
        """
        return self._allows(context, rule, {
            **more,
            'project_id': record.project_id, 'user_id': record.user_id})

    def may(self, context: RequestContext, rule: str) -> bool:
        return self._allows(context, rule, {
            'project_id': context.project_id, 'user_id': context.user_id})

    def _allows(self, context: RequestContext, rule: str,
                target: Mapping[str, Any]) -> bool:
        # oslo.policy takes an unscoped token for one of a project, and finds
        # that its project, None, is that of a record without a project.
        if rule in self._project_only and not context.project_id:
            return False
        try:
            return bool(self._enforcer.authorize(
                rule, dict(target), context, do_raise=False))
        except policy.InvalidScope:
            return False
