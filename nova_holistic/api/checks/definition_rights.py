# SPDX-License-Identifier: Apache-2.0
"""Check that the user has the right to declare each part of a document.

The check reads only the document, never the cloud. The response is therefore
the same whether a host exists or not.
"""

from collections.abc import Collection
import math

from oslo_log import log as logging

from nova_holistic.api.context import RequestContext
from nova_holistic.api.errors import forbidden
from nova_holistic.api.policies import definitions as rules
from nova_holistic.api.policy_enforcer import Owned, PolicyEnforcer
from nova_holistic import exceptions
from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.group import Group
from nova_holistic.topology import load_topology

LOG = logging.getLogger(__name__)


class DefinitionRights:
    """Threads may share an instance."""

    def __init__(self, policy_enforcer: PolicyEnforcer,
                 levels: Collection[str] | None):
        """
        :param levels: of the topology; if empty, every location is
            treated as the name of a host; None: other services check the
            locations in their own topologies, with the rights that the user
            has there
        """
        self._authority = policy_enforcer
        self._above_host = (math.inf if levels is None
                            else max(0, len(levels) - 1))

    @classmethod
    def from_conf(cls, conf,
                  policy_enforcer: PolicyEnforcer) -> 'DefinitionRights':
        try:
            levels = load_topology(conf).levels
        except exceptions.HolisticError as error:
            LOG.warning(
                'The levels of [topology] are unknown here: users need the '
                'right %s for any location. %s',
                rules.HOST_LOCATION, error)
            levels = ()
        return cls(policy_enforcer, levels)

    def must_allow(self, context: RequestContext, group: Group,
                   owner: Owned) -> None:
        """
        :param group: the whole definition. Groups that do not exist yet, and
            which the first create adds, count as well
        :param owner: the record of the group; for a new one, the context
        :raises ApiError: 403, at the first part for which the user lacks the
            right
        """
        for described in group.described_groups():
            self._check_rules(context, described, owner)
            for member in described.members:
                if (self._names_a_host(member.requirements.location)
                        and not self._may_name_hosts(context, owner)):
                    raise forbidden(
                        rules.HOST_LOCATION, f'{member.place}.location')

    def _check_rules(self, context: RequestContext, group: Group,
                     owner: Owned) -> None:
        for rule in group.rules:
            if (rule.closes not in (None, HOST)
                    and not self._authority.may_with(
                        context, rules.EXCLUSIVE_LEVEL, owner,
                        level=rule.closes)):
                raise forbidden(rules.EXCLUSIVE_LEVEL, f'{rule.place}.level')
            if (self._names_a_host(rule.vertex)
                    and not self._may_name_hosts(context, owner)):
                raise forbidden(rules.HOST_LOCATION, f'{rule.place}.path')

    def _names_a_host(self, path: Collection[str]) -> bool:
        return len(path) > self._above_host

    def _may_name_hosts(self, context: RequestContext, owner: Owned) -> bool:
        return self._authority.may_with(context, rules.HOST_LOCATION, owner)
