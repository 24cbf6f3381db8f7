# SPDX-License-Identifier: Apache-2.0
"""Groups with hard policies in place of preferences.

Each plan of a group that violates no preference is a plan of this group.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from nova_holistic.model.group import Group, Scope
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship


def hard_form(policy: Policy, scope: Scope) -> Policy | None:
    """The hard policy in place of a preference; None if none exists.

    Documents can contain it as a hard policy, under the type of the preference
    or that of a class from which it is derived. Other policies, of other
    packages, may not accept that they have no weight. A hard relationship with
    traffic limits uplinks, and servers in different domains do not violate it.
    Therefore, it has a hard form of another type.
    """
    if isinstance(policy, Relationship) and policy.traffic_mbps:
        return policy.without_traffic(scope)
    return replace(policy, weight=None) if any(
        'type' in vars(each) and each.default_weight is None
        for each in type(policy).__mro__ if issubclass(each, Policy)) else None


def only_rules(group: Group, chosen: Callable[[Policy], bool]) -> Group:
    """The group with only the chosen policies and relationships."""
    return replace(
        group, policies=tuple(filter(chosen, group.policies)),
        relationships=tuple(filter(chosen, group.relationships)),
        groups=tuple(only_rules(each, chosen) for each in group.groups))


def with_hard_forms(group: Group, chosen: Callable[
        [Policy, Scope], bool] = lambda policy, scope: True) -> Group:
    """The group with a hard policy in place of each chosen preference that has
    a hard form.

    :param chosen: whether a preference is replaced; by default, all are
    """
    return _with_hard_forms(group.scopes(), chosen)


def _with_hard_forms(scopes: Iterator[Scope],
                     chosen: Callable[[Policy, Scope], bool]) -> Group:
    """The group of the next scope, whose nested groups follow."""
    scope = next(scopes)
    group = scope.group
    policies, relationships = (
        tuple(each if each.hard or not chosen(each, scope)
              else hard_form(each, scope) or each for each in rules)
        for rules in (group.policies, group.relationships))
    return replace(
        group, policies=policies, relationships=relationships,
        groups=tuple(_with_hard_forms(scopes, chosen) for _ in group.groups))
