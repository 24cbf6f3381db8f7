# SPDX-License-Identifier: Apache-2.0
"""Plans the group as a whole, holds its members, creates servers with pointers
and releases the other members. Each step is followed by a check of Nova and
Placement."""

from collections.abc import Iterable
from collections import Counter
from pathlib import Path
import time

from rich.console import Console

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.demo.demo_cloud import DemoCloud
from nova_holistic.embedded.demo.expectations import Expectations
from nova_holistic.embedded.demo.outcome import Attempt, Outcome
from nova_holistic.embedded.demo import scenario, tables
from nova_holistic import exceptions
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.picture.formats import FORMATS
from nova_holistic.picture.scene import scene
from nova_holistic.solver.check import check
from nova_holistic.table.records import GroupStatus, MemberRecord, MemberState

NAME = 'joint'


class NoPlan(exceptions.HolisticError):
    """The planner finds no plan, although the scenario has a plan."""


class JointPlanning:
    """Plans, creates, releases and deletes one group.

    :ivar uuid: UUID of the group, after ``plan``
    :ivar figures: moments, each with the total usage in Placement
    """

    def __init__(self, demo_cloud: DemoCloud, console: Console,
                 expectations: Expectations):
        self.demo_cloud = demo_cloud
        self.cloud = demo_cloud.cloud
        self.console = console
        self.expectations = expectations
        self.figures: list[tuple[str, Counter[str]]] = []

    def plan(self, group: Group, snapshot: Snapshot, folder: Path) -> None:
        """Plan all members, hold them, and check the plan.

        :param folder: folder for the map of the plan
        :raises NoPlan: the planner finds no plan
        """
        self.cloud.restart_scheduler('holistic')
        self.console.print('nova-scheduler is stopped; '
                           'nova-holistic-scheduler takes its place.')
        self._count('the load')
        shown = self.cloud.planner.plan(scenario.document())
        if not isinstance(shown, Plan):
            raise NoPlan(f'the planner answers {shown}')
        self._draw(shown, group, snapshot, folder)
        started = time.monotonic()
        record = self.cloud.planner.create(
            scenario.document(), project_id=PROJECT, user_id=USER)
        self.planning = time.monotonic() - started
        self.uuid = record.uuid
        places = {r.member.path: r.place.host for r in self.rows()}
        self.expectations.expect(
            f'all {len(shown.placements)} members are held where planned; '
            f'that took {self.planning:.1f} seconds',
            [] if places == shown.hosts() and
            record.status is GroupStatus.PLANNED
            else [f'group {record.uuid}: {record.status}, {places}'])
        self.expectations.expect(
            'an independent check finds no violated policy, also on racks',
            [f'{reason.at}: {reason.message}'
             for reason in check(group, snapshot, places)])
        self._balance('Placement counts the load and the holds', self.rows())
        self._count('and all members held')

    def _draw(self, plan: Plan, group: Group, snapshot: Snapshot,
              folder: Path) -> None:
        self.console.print(tables.plan(plan))
        picture = scene(snapshot, plan, bind(group, snapshot))
        for suffix in ('.html', '.svg'):
            path = folder / f'nova-holistic-demo{suffix}'
            path.write_bytes(FORMATS[suffix](picture))
            self.console.print(f'Its map is in {path}', markup=False)

    def create(self) -> Attempt:
        """Request all servers except those in ``NEVER_CREATED``. No request
        waits for another, because each server has its hold."""
        rows = [row for row in self.rows()
                if row.member.path not in scenario.NEVER_CREATED]
        started = time.monotonic()
        servers = [self.demo_cloud.request_server(row.member, pointer={
            'group': self.uuid, 'member': row.member.path}) for row in rows]
        outcomes = tuple(self.demo_cloud.outcome(row.member, server)
                         for row, server in zip(rows, servers))
        seconds = time.monotonic() - started
        self.outcomes = outcomes
        self.expectations.expect(
            f'{len(rows)} servers are created with the same requests and a '
            f'pointer; each is ACTIVE where planned',
            list(_misplaced(rows, outcomes)))
        return Attempt(NAME, outcomes, self.planning + seconds,
                       held=len(self.rows()))

    def release(self) -> None:
        """Free the capacity that the client has not used."""
        never = ' and '.join(scenario.NEVER_CREATED)
        self._balance(f'{never}, never created, are still held', self.rows())
        self.cloud.lifecycle.release(self.uuid)
        left = [row for row in self.rows() if row.state in (
            MemberState.PLANNED, MemberState.RELEASED)]
        self.expectations.expect(
            'the group is released; the two remaining members are no longer '
            'held',
            [f'{row.member.path}: {row.state}, held: {row.held}'
             for row in left
             if row.held or row.state is not MemberState.RELEASED])
        self._balance('Placement counts exactly the existing servers')
        self._count('two released: existing servers')

    def delete(self) -> None:
        """Delete the servers and the group, and check that only the load
        remains."""
        self.demo_cloud.delete(self.outcomes)
        self.cloud.lifecycle.delete(self.uuid)
        self._balance('servers and group are deleted; Placement contains only '
                      'the load')
        self._count('all deleted')
        self.console.print(tables.account(self.figures))

    def rows(self) -> tuple[MemberRecord, ...]:
        return self.cloud.table.members(self.uuid)

    def _balance(self, text: str,
                 held: Iterable[MemberRecord] = ()) -> None:
        self.expectations.expect(text, self.demo_cloud.discrepancies(
            self.cloud.servers(), held))

    def _count(self, moment: str) -> None:
        total: Counter[str] = Counter()
        for used in self.cloud.usages().values():
            total.update(used)
        self.figures.append((moment, total))


def _misplaced(rows: Iterable[MemberRecord], outcomes: Iterable[Outcome]):
    for row, outcome in zip(rows, outcomes):
        if not outcome.active or outcome.host != row.place.host:
            yield (f'{outcome.member}: {outcome.status} on {outcome.host}, '
                   f'planned on {row.place.host}: {outcome.fault}')
