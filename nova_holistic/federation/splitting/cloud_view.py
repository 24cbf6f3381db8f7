# SPDX-License-Identifier: Apache-2.0
"""Validates a choice of clouds for a group. Each cloud is a host with
unlimited capacity.

The checks of the policies themselves validate the choice. They share no code
with the integer program.
"""

from collections.abc import Collection, Mapping
from typing import Any

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.federation.child import Document
from nova_holistic.federation.splitting.cloud_rules import AFFINITY, CLOUD
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.solver.check import check

_ROOM = 2**31 - 1


class CloudView:
    """Validates a choice of clouds."""

    def __init__(self, group: Group, eligible: Collection[str]):
        """
        :param group: see ``cloud_group``
        :param eligible: clouds that could hold members, and those that do
        """
        self._group = group
        self._snapshot = Snapshot((CLOUD, 'host'), tuple(
            _host(cloud) for cloud in sorted(eligible)))

    def violated_rules(self, clouds: Mapping[str, str]) -> tuple[Reason, ...]:
        """The hard rules that the choice violates.

        :param clouds: path of every member to its cloud
        """
        return check(self._group, self._snapshot, clouds)

    def cost(self, clouds: Mapping[str, str]) -> float:
        """Weighted violations of preferences about clouds."""
        hosts = {host.name: host for host in self._snapshot.hosts}
        placement = {path: hosts[name] for path, name in clouds.items()}
        return sum(
            rule.weight * rule.check(scope, placement, self._snapshot).count
            for scope in self._group.scopes() for rule in scope.group.rules
            if rule.weight is not None)


def cloud_group(document: Document, policy_types: PolicyTypes) -> Group:
    """The group with its rules about clouds and no others."""
    return parse_group(_seen(document), policy_types)


def _host(cloud: str) -> Host:
    return Host(cloud, cloud, '', (cloud,), FrozenMapping(
        {'VCPU': Inventory(total=_ROOM)}))


def _seen(document: Document) -> dict[str, Any]:
    """The document with its rules about clouds and no others."""
    found = {key: document[key] for key in ('name', 'count')
             if key in document}
    lists = {
        'policies': [rule for each in document.get('policies', ())
                     if (rule := _rule(each)) is not None],
        'relationships': [each for each in document.get('relationships', ())
                          if each.get('level') == CLOUD],
        'members': [_member(each) for each in document.get('members', ())],
        'groups': [_seen(each) for each in document.get('groups', ())]}
    return {**found, **{key: each for key, each in lists.items() if each}}


def _rule(policy: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if policy['type'] == 'location':
        return {**policy, 'path': policy['path'].partition('/')[0]}
    if policy['type'] in AFFINITY:
        # Members in the same domain of a finer level are in the same cloud.
        return {**policy, 'level': CLOUD}
    return policy if policy.get('level') == CLOUD else None


def _member(member: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: member[key] for key in ('name', 'count', 'skip')
             if key in member}
    found['resources'] = {'VCPU': 1}
    if 'location' in member:
        found['location'] = member['location'].partition('/')[0]
    return found
