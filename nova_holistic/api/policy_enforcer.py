# SPDX-License-Identifier: Apache-2.0
"""Authorisation with oslo.policy, in two steps for a record.

First, before any record is read: whether the caller may perform the operation
in its own project at all; if not, 403. Then, with the record: whether it may
perform the operation on this record. A record of another project results in
404, as if it did not exist.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from oslo_config import cfg
from oslo_log import log as logging
from oslo_policy import policy

from nova_holistic.api.context import RequestContext
from nova_holistic.api.errors import ApiError, forbidden
from nova_holistic.api import policies
from nova_holistic import exceptions

LOG = logging.getLogger(__name__)


class Owned(Protocol):
    """An object that belongs to a project and was created by a user."""

    project_id: str
    user_id: str


class InvalidPolicyFile(exceptions.HolisticError):
    """The policy file cannot be read, or is not a mapping of rules."""


class PolicyEnforcer:
    """Threads may share an instance."""

    def __init__(self, conf):
        """
        :param conf: with oslo.policy's options registered
        :raises InvalidPolicyFile: the rules of the operator cannot be read
        """
        # Inside nova-api, Nova's policy file contains rules that do not belong
        # to this project.
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        try:
            # Without this call, the first request would read the file, and
            # fail.
            self._enforcer.load_rules()
        except (OSError, ValueError, TypeError, AttributeError,
                cfg.Error) as error:
            # oslo.policy does not check the type of the document.
            raise InvalidPolicyFile(
                f'[oslo_policy] policy_file, {self._enforcer.policy_path}: '
                f'{" ".join(str(error).split())}') from error
        if self._enforcer.policy_path is None and conf.get_location(
                'policy_file', 'oslo_policy').location.is_user_controlled:
            LOG.warning('[oslo_policy] policy_file: %s does not exist, so the '
                        'default rules apply', conf.oslo_policy.policy_file)
        self._project_only = {
            rule.name for rule in policies.list_rules()
            if rule.scope_types == ['project']}

    def must(self, context: RequestContext, rule: str) -> None:
        """:raises ApiError: 401 without a valid token, 403 without the
        required role
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
        :param missing: the error if no such record exists
        :raises ApiError: the error ``missing``, or 403 in the caller's own
            project
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
        :param more: further values for the check of the rule
        """
        return self._allows(context, rule, {
            **more,
            'project_id': record.project_id, 'user_id': record.user_id})

    def may(self, context: RequestContext, rule: str) -> bool:
        return self._allows(context, rule, {
            'project_id': context.project_id, 'user_id': context.user_id})

    def _allows(self, context: RequestContext, rule: str,
                target: Mapping[str, Any]) -> bool:
        # oslo.policy treats an unscoped token like a token of a project, and
        # its project, None, matches that of a record without a project.
        if rule in self._project_only and not context.project_id:
            return False
        try:
            return bool(self._enforcer.authorize(
                rule, dict(target), context, do_raise=False))
        except policy.InvalidScope:
            return False
