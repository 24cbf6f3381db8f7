# SPDX-License-Identifier: Apache-2.0
"""The problem of the solver that represents provider trees as resource
classes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.inventory import Inventory, MAX_UNIT
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import NONE
from nova_holistic.solver.trees.demand import (
    parts, ProviderTraits, tree_classes)
from nova_holistic.solver.trees.joint_traits import joint_traits, JointTraits
from nova_holistic.solver.trees.member_limits import MemberLimits
from nova_holistic.solver.trees.shared_capacity import shared_capacities
from nova_holistic.solver.trees.tree_rows import tree_rows, TreeRow

Limits = Mapping[str, int]
"""Host name to the maximum number of members on the host that use its provider
tree."""


@dataclass(frozen=True, slots=True)
class TreeProblem:
    """A problem without nested providers and request groups. The rows of
    provider trees are resource classes.

    :ivar group: the group, bound to the snapshot
    """

    group: Group
    snapshot: Snapshot


def tree_problem(group: Group, snapshot: Snapshot, placed: Collection[str],
                 limits: Limits = FrozenMapping()) -> TreeProblem | None:
    """Return the problem that represents provider trees as resource classes,
    and the limits and the capacity that hosts share as policies. None if root
    providers have all that the members request, so that the original problem
    needs no change.

    :param group: the group, bound to the snapshot
    :param placed: paths of the members whose usage is in the snapshot
    """
    classes = tree_classes(group, snapshot)
    if not classes:
        return None
    requirements = {each.requirements for each in group.all_members()}
    known = ProviderTraits.of(snapshot)
    rows = tree_rows(requirements, classes, known)
    joint = joint_traits(requirements, classes, known)
    flat = _with_amounts(group, classes, rows, joint)
    return TreeProblem(
        replace(flat, policies=(
            *flat.policies, *shared_capacities(group, snapshot, placed),
            *_limited(group, rows, placed, limits))),
        # Results that are cached for the real hosts are not valid for these.
        replace(snapshot, lineage={}, hosts=_flat_hosts(
            snapshot, classes, rows, joint)))


def _limited(group: Group, rows: Sequence[TreeRow], placed: Collection[str],
             limits: Limits) -> Iterator[MemberLimits]:
    """The limits as a policy, if there are any."""
    if limits:
        uses = {each: any(row.amount(each) for row in rows)
                for each in {m.requirements for m in group.all_members()}}
        yield MemberLimits(most=FrozenMapping(limits), paths=frozenset(
            each.path for each in group.all_members()
            if uses[each.requirements] and each.path not in placed))


def _with_amounts(group: Group, classes: frozenset[str],
                  rows: Sequence[TreeRow], joint: JointTraits) -> Group:
    return replace(
        group, members=tuple(
            _description(each, classes, rows, joint)
            for each in group.members),
        groups=tuple(_with_amounts(each, classes, rows, joint)
                     for each in group.groups))


def _description(description: MemberDescription, classes: frozenset[str],
                 rows: Sequence[TreeRow],
                 joint: JointTraits) -> MemberDescription:
    if not description.server_names():
        return description
    wanted = description.requirements
    return replace(description, requirements=_flat(
        replace(wanted, required_traits=joint.required(wanted)),
        classes, {row.name: row.amount(wanted) for row in rows}))


def _flat(wanted: Requirements, classes: frozenset[str],
          amounts: Mapping[str, int]) -> Requirements:
    return replace(
        # With its name, the flavor would be resolved again.
        wanted, flavor=None, request_groups=(), group_policy=NONE,
        same_subtree=(),
        resources=FrozenMapping({
            **{name: amount for name, amount in wanted.resources.items()
               if name not in classes},
            **{name: amount for name, amount in amounts.items() if amount}}))


def _flat_hosts(snapshot: Snapshot, classes: frozenset[str],
                rows: Sequence[TreeRow],
                joint: JointTraits) -> tuple[Host, ...]:
    """The hosts without nested providers, with the rows in place of the
    classes."""
    # Many hosts have the same providers, such as a storage that they share.
    # The providers live as long as the snapshot, so their ids are unique.
    known: dict[tuple, tuple[Mapping[str, Inventory], frozenset[str]]] = {}
    ordered = sorted(classes)
    found = []
    for host in snapshot.hosts:
        key = (host.traits, tuple(map(host.inventories.get, ordered)),
               tuple(map(id, host.providers)))
        if key not in known:
            known[key] = _rows_of(host, rows), joint.traits(host)
        rows_here, traits = known[key]
        found.append(replace(
            host, providers=(), traits=traits, inventories=FrozenMapping({
                **{name: inventory for name, inventory
                   in host.inventories.items() if name not in classes},
                # A host without capacity of a class does not offer the class.
                **{name: inventory for name, inventory in rows_here.items()
                   if inventory.total}})))
    return tuple(found)


def _rows_of(host: Host, rows: Sequence[TreeRow]) -> Mapping[str, Inventory]:
    now, unused = parts(host), parts(host, used=False)
    return {row.name: _inventory(row.capacity(unused), row.capacity(now))
            for row in rows}


def _inventory(total: int, free: int) -> Inventory:
    # The limits of single allocations are part of the amounts.
    return Inventory(total, used=total - free, max_unit=max(MAX_UNIT, total))
