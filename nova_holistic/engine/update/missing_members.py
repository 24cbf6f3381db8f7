# SPDX-License-Identifier: Apache-2.0
"""An update with fewer new members than desired, if the capacity is not
sufficient for all."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from nova_holistic.engine.decision.planning_request import (
    NotPlanned, PlanningRequest)
from nova_holistic.engine.fewer_members import FewerMembers
from nova_holistic.engine.update.revised_members import RevisedMembers
from nova_holistic.model.elastic.optional_members import optional_units, Unit
from nova_holistic.model.plan import Reason
from nova_holistic.table.records import MemberState

Plan = TypeVar('Plan')


def decide(sizing: FewerMembers, where: RevisedMembers,
           plan: Callable[[RevisedMembers], Plan],
           request: PlanningRequest, added: Collection[str] = (),
           ) -> tuple[RevisedMembers, Plan, Sequence[Reason]]:
    """A plan for the desired number of members, or for as many as can be
    placed. Members that have a place keep one.

    :param plan: raises NotPlanned if no plan exists
    :param request: request for all members, of which only those with a server
        have fixed places
    :param added: paths of members that the update must place
    :returns: the members that are planned, their plan, and the missing members
        with reasons
    :raises NotPlanned: no plan for the minimum exists
    """
    try:
        return where, plan(where), ()
    except NotPlanned as refusal:
        units = list(_new(where, added))
        if not units:
            raise
        sized = sizing.fewer(request, units, refusal)
    missing = {member.path for member in request.group.all_members()} - {
        member.path for member in sized.request.group.all_members()}
    fewer = replace(where, left_out=where.left_out | missing)
    return fewer, plan(fewer), sized.reasons


def _new(where: RevisedMembers,
         added: Collection[str]) -> Iterator[Unit]:
    """Members that the update may leave out. None of them has a place."""
    placed = {*added, *where.fixed, *where.movable, *where.adopted.servers, *(
        path for path, row in where.to_plan.items()
        if row.state == MemberState.PLANNED)}
    return (unit for unit in optional_units(where.revised, placed)
            if not unit.members <= where.left_out)
