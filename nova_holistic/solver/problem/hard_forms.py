# SPDX-License-Identifier: Apache-2.0
"""Groups with hard policies in place of preferences.

Each plan of a group that violates no preference is a plan of this group.
"""

from dataclasses import replace

from nova_holistic.model.group import Group
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship


def has_hard_form(policy: Policy) -> bool:
    """Whether documents can contain the policy as a hard policy, under its own
    type or that of a class from which it is derived. Other policies, of other
    packages, may not accept that they have no weight. A hard relationship with
    traffic limits uplinks, and servers in different domains do not violate it.
    """
    if isinstance(policy, Relationship) and policy.traffic_mbps:
        return False
    return any('type' in vars(each) and each.default_weight is None
               for each in type(policy).__mro__ if issubclass(each, Policy))


def with_hard_forms(group: Group) -> Group:
    """The group with a hard policy in place of each preference that has a hard
    form."""
    return replace(
        group,
        policies=tuple(map(_in_hard_form, group.policies)),
        relationships=tuple(map(_in_hard_form, group.relationships)),
        groups=tuple(map(with_hard_forms, group.groups)))


def _in_hard_form(policy: Policy) -> Policy:
    return replace(policy, weight=None) if has_hard_form(policy) else policy
