# SPDX-License-Identifier: Apache-2.0
"""Updates of the shop, and helpers of their tests."""

import copy
import uuid

from nova_holistic.holds.errors import HoldsError
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.functional.engine.world import shop, SMALL

LARGE = {'VCPU': 2, 'MEMORY_MB': 512}
SETTLED = tuple(s for s in GroupStatus if s != GroupStatus.PLANNING)


def revised(*, policies=None, top=None, web=SMALL, node=SMALL, **keys):
    """The shop with other policies, members or sizes."""
    document = copy.deepcopy(shop(**keys)['group'])
    document['members'][0]['resources'] = web
    database = document['groups'][0]
    database['members'][0]['resources'] = node
    if policies is not None:
        database['policies'] = policies
    if top is not None:
        document['policies'] = top
    return document


def ask(world, group, document, **pending):
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': document, **pending}, SETTLED),
        world.now)


def take(world, group):
    """Let another engine take the task; the previous one has failed."""
    world.wait(60)
    return world.table.tasks.take(
        group.uuid, str(uuid.uuid4()), world.now, world.now)


def update(world, group, document, planner=None, **pending):
    ask(world, group, document, **pending)
    (planner or world.planner).perform(take(world, group))
    return world.table.get_group(group.uuid)


def rows(world, group):
    return {m.member.path: m for m in world.table.members(group.uuid)}


def hosts(world, group):
    return {path: m.place.host for path, m in rows(world, group).items()}


def fill(world, *but):
    """Fill the remaining capacity of all hosts except these."""
    for host, provider in world.hosts.items():
        left = 2 - world.placement.used(provider)['VCPU']
        if left and host not in but:
            world.placement.allocate(provider, {'VCPU': left})


def held(world, group):
    """The number of members of the group that have a hold in Placement."""
    return sum(world.holds.exists(m.hold) is not None
               for m in rows(world, group).values())


def assert_settled(world, group, revision):
    record = world.table.get_group(group.uuid)
    assert (record.revision, record.task, record.pending, record.engine) == (
        revision, None, None, None)
    return record


class Meanwhile:
    """A hold client that calls a function once, just before one of its
    methods."""

    def __init__(self, holds, call, event):
        self._holds = holds
        self._call = call
        self._events = iter([event])

    def __getattr__(self, name):
        method = getattr(self._holds, name)

        def call(*args):
            if name == self._call:
                next(self._events, lambda: None)()
            return method(*args)

        return call


class Silent:
    """A hold client whose given methods fail, as if Placement did not
    respond."""

    def __init__(self, holds, *calls):
        self._holds = holds
        self._calls = calls

    def __getattr__(self, name):
        def fail(*args):
            raise HoldsError('timed out')

        return fail if name in self._calls else getattr(self._holds, name)
