# SPDX-License-Identifier: Apache-2.0
"""Plans a revised group so that few planned members move."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from nova_holistic.documents.groups.revision import changed_rules
from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.update.revised_members import RevisedMembers
from nova_holistic.solver.check import check
from nova_holistic.table.records import GroupRecord, MemberRecord

MAX_RETURN_CHECKS = 64
"""Maximum number of moved members for which the planner checks whether they
can return to their previous hosts."""


def decide(snapshot_planner: SnapshotPlanner, record: GroupRecord,
           where: RevisedMembers,
           document: Mapping[str, Any], objective: str,
           ) -> tuple[frozenset[str], PlanningRequest, CheckedPlan]:
    """A plan of the revised group, and the members that it moves.

    Staying takes precedence over all preferences: no member moves if the hard
    policies can be satisfied without moves. Otherwise, members below a group
    whose rules have changed may move. If no plan is found then, all members
    may move. Of these members, each stays if it can stay after the others have
    moved.

    :param document: the revised document
    :returns: paths of members that had places and are planned again, the
        request that was solved, and its result
    :raises NotPlanned: no plan satisfies the hard policies, even if all
        members move
    :raises InvalidDocument: the cloud has no such flavor or level
    """
    refusal: NotPlanned | None = None
    for freed in _movable_sets(record, where, document):
        request = where.request(record, objective, freed)
        try:
            decision = snapshot_planner.decide(request)
        except NotPlanned as end:
            refusal = end
            continue
        moving = freed - _unmoved(where, freed, request, decision)
        if moving == freed:
            return freed, request, decision
        fewer = where.request(record, objective, moving)
        try:
            return moving, fewer, snapshot_planner.decide(fewer)
        except NotPlanned:
            # The cloud has changed in the meantime, or the time limit was
            # reached. The plan with more moves is still valid.
            return freed, request, decision
    assert refusal is not None
    raise refusal


def invalidates_alternates(record: GroupRecord, document: Mapping[str, Any],
                           where: RevisedMembers,
                           to_plan: Collection[MemberRecord]) -> bool:
    """Whether members that stay may no longer use their alternates: the rules
    have changed, or allow other hosts after members were added or removed.

    :param to_plan: rows of members that are planned again
    """
    if changed_rules(record.document, document):
        return True
    return bool(to_plan or where.removed) and any(
        rule.hard and rule.counts_all
        for scope in where.revised.scopes() for rule in scope.group.rules)


def _movable_sets(record: GroupRecord, where: RevisedMembers,
                  document: Mapping[str, Any]) -> Iterator[frozenset[str]]:
    """Increasing sets of movable members; the first set is empty."""
    every = frozenset(where.movable)
    touched = changed_rules(record.document, document)
    below = frozenset(path for path in every if any(
        not scope or path.startswith(f'{scope}/') for scope in touched))
    yield from dict.fromkeys((frozenset(), below, every))


def _unmoved(where: RevisedMembers, freed: Collection[str],
             request: PlanningRequest,
             decision: CheckedPlan) -> frozenset[str]:
    """The movable members that are on their previous hosts, or that can return
    to them."""
    hosts = decision.plan.hosts()
    old = {path: where.movable[path].place.host for path in freed}
    moved = sorted(path for path in freed if hosts[path] != old[path])
    for path in moved[:MAX_RETURN_CHECKS]:
        trial = {**hosts, path: old[path]}
        if not check(decision.group, decision.snapshot, trial,
                     request.placed):
            hosts = trial
    return frozenset(path for path in freed if hosts[path] == old[path])
