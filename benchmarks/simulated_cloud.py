# SPDX-License-Identifier: Apache-2.0
"""A cloud in memory that answers the requests of a federation's parent.

The real solver plans on a snapshot. Groups, holds and leases exist only as
Python objects, and the documents of the answers are those of the API.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
import threading
import time
import uuid

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.plan import to_document
from nova_holistic.documents.relaxations import (
    headroom_to_document, relaxations_to_document)
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve


@dataclass
class SimulatedGroup:
    """
    :ivar places: path of each member that holds capacity, to its host
    :ivar resources: path of each member to its amounts
    """

    uuid: str
    name: str
    key: str | None
    status: str
    lease_end: datetime | None
    places: dict = field(default_factory=dict)
    resources: dict = field(default_factory=dict)
    reasons: tuple = ()
    released: int = 0


class SimulatedCloud:
    """
    :ivar groups: UUID to group
    :ivar plans: number of dry runs
    :ivar seconds: processor time of the solver
    """

    def __init__(self, snapshot, policy_types, clock, seconds=10.0):
        """
        :param clock: returns naive UTC
        :param seconds: time limit of the solver
        """
        self.snapshot = snapshot
        self.policy_types = policy_types
        self.clock = clock
        self.limit = seconds
        self.groups: dict[str, SimulatedGroup] = {}
        self.plans = 0
        self.seconds = 0.0
        self.lock = threading.RLock()

    def plan(self, document, objective=None, extras=()):
        """The document of a dry run.

        :param extras: see ``table.records.EXTRAS``
        """
        with self.lock:
            self.plans += 1
            try:
                group = parse_group(document, self.policy_types)
                solved = self._solved(group, objective)
            except InvalidDocument as error:
                return {'id': str(uuid.uuid4()), 'status': 'error',
                        'reasons': [{'at': '', 'message': str(error)}]}
            answer = to_document(solved, group.name, group)
            if 'relaxations' in extras and isinstance(solved, Unplaceable):
                answer['relaxations'] = relaxations_to_document(relax(
                    group, self.snapshot, reasons=solved.reasons,
                    settings=Settings(time_limit=self.limit)))
            if 'headroom' in extras:
                answer['headroom'] = headroom_to_document(headroom(
                    group, self.snapshot, solved,
                    settings=Settings(time_limit=self.limit)))
        return {'id': str(uuid.uuid4()), **answer}

    def create(self, document, objective=None, lease=0, key=None):
        """Plan the group and hold its capacity, unless the key is known."""
        with self.lock:
            self._expire()
            for each in self.groups.values():
                if key is not None and each.key == key:
                    return self.shown(each)
            group = parse_group(document, self.policy_types)
            solved = self._solved(group, objective)
            record = SimulatedGroup(
                str(uuid.uuid4()), group.name, key, 'unplaceable',
                self.clock() + timedelta(seconds=lease) if lease else None)
            if isinstance(solved, Plan):
                record.status = 'planned'
                record.places = solved.hosts()
                record.resources = _amounts(group, self.snapshot)
                self._use(record.places, record.resources, 1)
            else:
                record.reasons = tuple(
                    to_document(solved, group.name).get('reasons', ()))
            self.groups[record.uuid] = record
            return self.shown(record)

    def extend(self, group_uuid, seconds):
        """The group; None if nothing of it is planned."""
        with self.lock:
            self._expire()
            group = self.groups.get(group_uuid)
            if group is None or not group.places:
                return None
            group.lease_end = self.clock() + timedelta(seconds=seconds)
            return self.shown(group)

    def delete(self, group_uuid):
        with self.lock:
            group = self.groups.pop(group_uuid, None)
            if group is not None:
                self._use(group.places, group.resources, -1)

    def show(self, group_uuid):
        with self.lock:
            self._expire()
            group = self.groups.get(group_uuid)
            return None if group is None else self.shown(group)

    def find(self, name):
        with self.lock:
            self._expire()
            return [self.shown(each) for each in self.groups.values()
                    if each.name == name]

    def placements(self, group_uuid):
        with self.lock:
            return [{'member': path, 'state': 'planned',
                     'instance_uuid': None, 'host': host}
                    for path, host in self.groups[group_uuid].places.items()]

    def used(self):
        """Amount of each resource class that is in use."""
        with self.lock:
            self._expire()
            usage = Counter()
            for host in self.snapshot.hosts:
                for name, inventory in host.inventories.items():
                    usage[name] += inventory.used
            return +usage

    def shown(self, group):
        counts = {'planned': len(group.places), 'released': group.released}
        return {
            'id': group.uuid, 'name': group.name, 'status': group.status,
            'task': None, 'idempotency_key': group.key,
            'members': {k: v for k, v in counts.items() if v},
            'lease_expires_at': group.lease_end and (
                group.lease_end.isoformat() + 'Z'),
            'reasons': [dict(each) for each in group.reasons]}

    def _solved(self, group, objective):
        started = time.thread_time()
        solved = solve(group, self.snapshot, objective=objective or 'spread',
                       settings=Settings(time_limit=self.limit))
        self.seconds += time.thread_time() - started
        return solved

    def _expire(self):
        now = self.clock()
        for group in self.groups.values():
            if group.lease_end is not None and group.lease_end <= now and (
                    group.places):
                self._use(group.places, group.resources, -1)
                group.released += len(group.places)
                group.places = {}
                group.status = 'released'

    def _use(self, places, resources, sign):
        change: dict[str, Counter] = {}
        for path, host in places.items():
            for name, amount in resources[path].items():
                change.setdefault(host, Counter())[name] += sign * amount
        if change:
            self.snapshot = replace(self.snapshot, hosts=tuple(
                _with_use(host, change[host.name])
                if host.name in change else host
                for host in self.snapshot.hosts))


def _amounts(group: Group, snapshot):
    return {member.path: dict(member.requirements.resources)
            for member in bind(group, snapshot).all_members()}


def _with_use(host, change):
    return replace(host, inventories=FrozenMapping({
        name: replace(inventory, used=inventory.used + change[name])
        for name, inventory in host.inventories.items()}))
