# SPDX-License-Identifier: Apache-2.0
"""Clouds in memory as children, on a clock that the test moves."""

from dataclasses import replace
from datetime import datetime, timedelta

from benchmarks.simulated_cloud import SimulatedCloud
from nova_holistic.federation.child import Refusal, RefusalKind
from nova_holistic.federation.http import answers
from nova_holistic.federation.http.member_count import member_count
from nova_holistic.federation.offers.dependencies import Dependencies
from nova_holistic.federation.offers.history import History
from nova_holistic.federation.offers.strategy import BRUTE_FORCE
from nova_holistic.federation.planner import FederatedPlanner, Limits
from nova_holistic.federation.results import Candidate, Request
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check
from nova_holistic.solver.milp.backend import load_backend
from tests.unit.builders import cloud, host

TYPES = load_policy_types()
NOON = datetime(2030, 1, 1, 12)
LEASE = 3600


class Time:
    """A clock that moves only while a caller sleeps."""

    def __init__(self):
        self.seconds = 0.0

    def now(self):
        return NOON + timedelta(seconds=self.seconds)

    def timer(self):
        return self.seconds

    def sleep(self, seconds):
        self.seconds += seconds


class DirectChild:
    """A child without HTTP, with faults that the test injects.

    :ivar calls: (name of the method, document, key or group UUID) of each call
    :ivar limits: time limit of each offer in seconds
    :ivar fault: called with the name of the method before and after the work;
        may raise Lost
    """

    def __init__(self, name, simulated, time, lifetime=60):
        self.name = name
        self.cloud = simulated
        self.calls = []
        self.limits = []
        self.fault = lambda method, when: None
        self._time = time
        self._lifetime = lifetime

    def offer(self, document, objective, seconds, extras=()):
        self.calls.append(('offer', document))
        self.limits.append(seconds)
        return self._answer('offer', lambda: answers.offer(
            self.name, self.cloud.plan(document, objective, extras),
            member_count(document),
            answers.expiry(self._time.now(), self._lifetime)))

    def create(self, document, objective, lease, key, seconds):
        self.calls.append(('create', key))
        return self._answer('create', lambda: answers.group(
            self.name, self.cloud.create(document, objective, lease, key)))

    def find(self, key, name):
        return self._answer('find', lambda: next(
            (answers.group(self.name, each) for each in self.cloud.find(name)
             if each['idempotency_key'] == key), None))

    def show(self, group_uuid):
        return self._answer('show', lambda: self._shown(
            self.cloud.show(group_uuid)))

    def extend(self, group_uuid, seconds):
        self.calls.append(('extend', group_uuid))
        return self._answer('extend', lambda: self._shown(
            self.cloud.extend(group_uuid, seconds)))

    def delete(self, group_uuid):
        self.calls.append(('delete', group_uuid))
        return self._answer('delete', lambda: self.cloud.delete(group_uuid))

    def _shown(self, found):
        return found and answers.group(self.name, found)

    def _answer(self, method, work):
        try:
            self.fault(method, 'before')
            found = work()
            self.fault(method, 'after')
        except Lost:
            return Refusal(self.name, RefusalKind.UNREACHABLE, (
                answers.reason(self.name, '', 'no answer'),))
        return found

    def offers(self):
        return [document for method, document in self.calls
                if method == 'offer']


def direct_child(name, snapshot, time):
    return DirectChild(name, SimulatedCloud(snapshot, TYPES, time.now), time)


class Lost(Exception):
    """The request or its response is lost."""


class Journal:
    """The latest record of each part.

    :ivar fault: called with each record; may raise
    """

    def __init__(self):
        self.records = {}
        self.fault = lambda record: None

    def write(self, record):
        self.fault(record)
        self.records[record.key] = record


class Federation:
    """A parent over clouds in memory.

    :param make: function of a name, a snapshot and a Time that returns a child
    :param clouds: snapshots by the names of the clouds
    """

    def __init__(self, strategy=BRUTE_FORCE, orders=None, costs=None,
                 facts=None, limits=None, make=None, **clouds):
        self.time = Time()
        self.journal = Journal()
        self.strategy = strategy
        self.limits = limits or Limits()
        self.history = History()
        self.snapshots = clouds
        self.children = {
            name: (make or direct_child)(name, snapshot, self.time)
            for name, snapshot in clouds.items()}
        self.candidates = [
            Candidate(child, (orders or {}).get(name, 0),
                      (costs or {}).get(name, 0.0), (facts or {}).get(name))
            for name, child in self.children.items()]

    def planner(self):
        return FederatedPlanner(
            self.candidates, self.strategy, self.limits, Dependencies(
                TYPES, load_backend('highs'), self.history, self.time.now,
                self.time.timer, self.time.sleep))

    def place(self, document, key='p-1', lease=LEASE):
        return self.planner().place(
            Request(document, None, lease, key, 600.0), self.journal)

    def offer(self, document):
        return self.planner().offer(
            Request(document, None, LEASE, 'p-1', 600.0))

    def requests(self):
        """Return the number of requests for an offer."""
        return sum(len(each.offers()) for each in self.children.values())

    def held(self):
        """Return the VCPUs that groups hold, by cloud."""
        return {name: child.cloud.used()['VCPU']
                - _used(self.snapshots[name])
                for name, child in self.children.items()
                if child.cloud.used()['VCPU'] != _used(self.snapshots[name])}

    def placement(self, placed):
        """Return path of each member to (cloud, host), as the clouds report
        it."""
        return {each['member']: (part.child, each['host'])
                for part in placed.parts
                for each in self.children[part.child].cloud.placements(
                    part.group.uuid)}


def _used(snapshot):
    return sum(host.inventories['VCPU'].used for host in snapshot.hosts)


def small(*hosts, vcpus=16, **fields):
    """Return a cloud of hosts with these names. The first letter of a name is
    the rack."""
    return cloud(*(host(name, name[0], vcpus=vcpus, **fields)
                   for name in hosts))


def joined(snapshots):
    """Return one topology of all clouds, with the cloud as its outermost
    level."""

    (levels,) = {each.levels for each in snapshots.values()}
    return replace(
        next(iter(snapshots.values())), levels=('cloud', *levels),
        hosts=tuple(replace(each, name=f'{name}-{each.name}',
                            location=(name, *each.location))
                    for name, snapshot in snapshots.items()
                    for each in snapshot.hosts))


def objections(group, snapshots, placement):
    """Return the violations that the independent check finds on the joined
    topology."""
    return check(group, joined(snapshots), {
        path: f'{cloud_name}-{host_name}'
        for path, (cloud_name, host_name) in placement.items()})


def member(name, vcpus=1, **more):
    return {'name': name, 'resources': {'VCPU': vcpus}, **more}
