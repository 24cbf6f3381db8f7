# SPDX-License-Identifier: Apache-2.0
"""Operations, and the crash points that each of them passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import uuid

from nova_holistic.table.records import GroupStatus, MemberRecord, Task
from tests.services.crash import operations as do
from tests.services.crash.operations import LEASE, nodes

BOTH = {'node-0': 'planned', 'node-1': 'planned'}
BUILT = {'node-0': 'built', 'node-1': 'planned'}
YEAR = 365 * 24 * 3600
"""A time in seconds after which no record is kept."""
FREED = {'node-0': 'released', 'node-1': 'released'}


@dataclass(frozen=True)
class Scenario:
    """One operation, which is killed at each of its crash points in turn.

    :ivar points: the crash points
    :ivar prepare: called with a CrashWorld; returns the group, or None, and
        the operation with its arguments
    :ivar states: states of the members after the recovery; None if they depend
        on the crash point
    :ivar again: whether the client repeats the operation after the crash
    """

    prepare: Callable
    points: Sequence[str]
    states: dict | None = None
    again: bool = False


ALL: list[Scenario] = []


def passes(*points, states=None, again=False):
    """Declare the crash points of the operation that a function prepares."""
    def declare(prepare):
        ALL.append(Scenario(prepare, points, states, again))
        return prepare
    return declare


# Create


@passes('task.taken', 'change.written', 'change.held', 'change.accepted',
        'change.finished', states=BOTH)
def create(world):
    group = world.ask()
    return group, do.perform, group


@passes('recovery.started', 'recovery.finished', states=BOTH)
def create_after_a_crash(world):
    group = world.ask()
    world.dies('change.held', do.perform, group)
    return group, do.take_over, group


@passes('change.undone', 'failure.finished', 'failure.rows-released',
        'failure.holds-dropped')
def create_too_late(world):
    group = world.ask()
    return group, do.perform_too_late, group


@passes('undo.holds-dropped')
def create_against_objections(world):
    group = world.ask()
    return group, do.perform_with_objection, group


def _in_parts(world):
    """Each hold of a new group is written by a separate request."""
    world.site = replace(world.site, part_size=1)
    return world.ask()


@passes('holds.part-put', 'holds.part-noted', states=BOTH)
def create_in_parts(world):
    group = _in_parts(world)
    return group, do.perform, group


@passes('holds.part-dropped', 'holds.parts-undone', 'holds.undo-noted',
        'change.undone', states=BOTH)
def create_in_parts_with_a_refusal(world):
    group = _in_parts(world)
    return group, do.perform_with_refused_part, group


@passes('holds.members-moved', 'change.held', states=BOTH)
def create_in_parts_next_to_another_server(world):
    group = _in_parts(world)
    return group, do.perform_with_other_server, group


@passes('task.alternates-taken', 'alternates.found', states=BOTH)
def find_alternates(world):
    group = world.ask()
    do.perform(world.parts, group)
    return group, do.find_alternates, group


@passes('group.created', 'create.planned', 'create.alternates-taken')
def create_for_a_caller(world):
    return None, do.create


@passes('abandon.given-up', states=FREED)
def give_up_a_callers_group(world):
    world.dies('change.held', do.create)
    group = world.table.list_groups()[0].uuid
    return group, do.reconcile_later


@passes('task.plan-taken')
def dry_run(world):
    plan = str(uuid.uuid4())
    do.ask_plan(world.parts, plan)
    return None, do.dry_run, plan


# Replan


@passes('change.written', 'change.held', 'change.accepted', 'change.finished',
        'task.settled', states=BOTH)
def replan(world):
    group = world.planned()
    world.lose(group)
    world.asked(group, Task.REPLANNING)
    return group, do.perform, group


@passes('replan.reasons-written', 'reconcile.corrected', states=BOTH)
def replan_in_a_pass(world):
    group = world.planned()
    world.lose(group)
    return group, do.reconcile


@passes('replan.unneeded-dropped')
def replan_during_a_release(world):
    group = world.planned()
    world.lose(group)
    world.asked(group, Task.REPLANNING)
    return group, do.perform_during_release, group


ADOPTING = ('change.written', 'change.held', 'change.accepted',
            'update.unneeded-dropped', 'change.finished', 'task.settled')


@passes('task.taken', *ADOPTING, states=BUILT)
def create_with_an_existing_server(world):
    group = world.ask(_adopting(world, nodes()))
    return group, do.perform, group


@passes('recovery.finished', states=BUILT)
def create_with_an_existing_server_after_a_crash(world):
    group = world.ask(_adopting(world, nodes()))
    world.dies('change.held', do.perform, group)
    return group, do.take_over, group


def _adopting(world, document):
    """The document with an existing server as its first member."""
    return {'group': {**document['group'], 'adopt': {
        'node-0': world.existing('a1')}}}


# Update


def _update(world, document, before=None):
    group = world.planned(before)
    world.asked(group, Task.UPDATING, document=document, lease=LEASE,
                objective='spread', released=[])
    return group


def _exchange(world):
    """The hosts have no capacity for the old and the new holds of a group
    together."""
    return _update(world, nodes(4, 1, None), nodes(4, 2, None))


@passes('change.written', 'change.held', 'change.accepted',
        'update.unneeded-dropped', 'change.finished', 'task.settled',
        states={f'node-{number}': 'planned' for number in range(3)})
def update(world):
    group = _update(world, nodes(3, level='host'))
    return group, do.perform, group


@passes(*ADOPTING, states=BUILT)
def update_with_an_existing_server(world):
    group = _update(world, _adopting(world, nodes(level='host')))
    return group, do.perform, group


@passes('update.room-noted', 'update.vacated', 'change.held',
        'change.accepted', 'update.unneeded-dropped',
        states={f'node-{number}': 'planned' for number in range(4)})
def update_with_the_same_capacity(world):
    group = _exchange(world)
    return group, do.perform, group


@passes('undo.room-restored', 'recovery.finished',
        states={f'node-{number}': 'planned' for number in range(4)})
def update_after_a_crash(world):
    group = _exchange(world)
    world.dies('change.held', do.perform, group)
    return group, do.take_over, group


@passes('undo.places-lost')
def update_without_its_former_capacity(world):
    group = _exchange(world)
    world.dies('change.held', do.perform, group)
    world.other_server(world.site.hosts['a1'])
    return group, do.take_over, group


@passes('task.undone')
def give_up_an_update(world):
    group = _update(world, nodes(3, level='host'))
    world.dies('change.held', do.perform, group)
    return group, do.give_up, group


# Release, end of a lease, delete


@passes('release.lease-ended', 'release.rows-released', 'release.settled',
        'leftovers.dropped', states=FREED, again=True)
def release(world):
    group = world.planned()
    return group, do.release, group


@passes('leftover.dropped', states=FREED)
def drop_leftovers(world):
    group = world.planned()
    world.dies('release.settled', do.release, group)
    return group, do.reconcile_later


@passes('expire.rows-released', 'expire.settled', 'leftovers.dropped',
        'expire.group-finished', states=FREED)
def expire(world):
    group = world.planned()
    world.site = replace(world.site, ahead=LEASE + do.HOUR)
    return group, do.expire


@passes('release.rows-released', 'delete.holds-dropped',
        'delete.update-dropped', 'delete.group-deleted', states={},
        again=True)
def delete(world):
    group = world.planned()
    return group, do.delete, group


@passes('delete.holds-dropped', 'delete.update-dropped',
        'delete.group-deleted', states={}, again=True)
def delete_with_a_claim(world):
    group = world.planned()
    world.dies('claim.row-claimed', do.claim, group, 'node-0',
               str(uuid.uuid4()))
    return group, do.delete, group


@passes('delete.task-interrupted', 'delete.holds-dropped', states={},
        again=True)
def delete_with_claims_at_a_revision(world):
    """No row is released, so that the drop of the holds would be the first
    change."""
    group = world.planned()
    for row in world.table.members(group):
        world.dies('claim.row-claimed', do.claim, group, row.member.path,
                   str(uuid.uuid4()))
    return group, do.delete, group, 1


@passes('holds.one-dropped', states={}, again=True)
def delete_with_a_missing_hold(world):
    group = world.planned()
    world.parts.holds.drop([world.row(group).hold])
    return group, do.delete, group


# The reconciler


@passes('restore.row-held', 'restore.hold-put', states=BOTH)
def restore_a_hold(world):
    group = world.planned()
    world.parts.holds.drop([world.row(group).hold])
    return group, do.reconcile


@passes('outage.given-up', 'place.member-lost', 'place.hold-dropped',
        states=BOTH)
def give_up_a_host(world):
    group = world.planned()
    world.site = replace(world.site, down=[world.row(group).place.host])
    return group, do.reconcile


@passes('return.row-held', 'return.room-taken', 'return.row-changed',
        states=BOTH)
def take_the_capacity_of_a_failed_server(world):
    group = world.planned()
    server = world.claimed(group, launched=False)
    world.failed(server)
    return group, do.reconcile


@passes('return.row-held', 'return.hold-put', 'return.row-changed',
        states=BOTH)
def hold_the_place_of_a_deleted_server(world):
    group = world.planned()
    server = world.built(group)
    world.parts.holds.drop([server])
    world.sees(deleted=[server])
    return group, do.reconcile


@passes('return.row-held', 'return.other-hold-dropped', 'return.hold-put',
        'return.row-changed', states=BOTH)
def hold_the_place_of_a_deleted_server_with_a_hold_elsewhere(world):
    group = world.planned()
    server = world.built(group)
    world.parts.holds.drop([server])
    row = world.row(group)
    other = next(provider for provider in world.site.hosts.values()
                 if provider != row.place.provider)
    world.parts.holds.put([replace(row, place=replace(
        row.place, provider=other))], 'blue', 'ann')
    world.sees(deleted=[server])
    return group, do.reconcile


@passes('return.row-held', 'return.outdated-dropped', 'return.row-changed',
        states=BOTH)
def plan_a_redefined_member_of_a_deleted_server(world):
    group = world.planned()
    server = world.built(group)
    world.parts.holds.drop([server])
    world.sees(deleted=[server])
    world.table.update_group(group, list(GroupStatus), document=nodes(
        traits={'forbidden': ['CUSTOM_OLD']}))
    return group, do.reconcile


@passes('return.released', 'return.released-dropped')
def release_the_place_of_a_deleted_server(world):
    group = world.planned()
    server = world.built(group)
    world.sees(deleted=[server], ahead=LEASE + do.HOUR)
    return group, do.reconcile


@passes('orphan.dropped', states=BOTH)
def drop_orphans(world):
    group = world.planned(nodes())
    for path in BOTH:
        world.parts.holds.put(
            [_orphan(world.row(group, path))], 'blue', 'ann')
    return group, do.reconcile


def _orphan(row: MemberRecord) -> MemberRecord:
    return replace(row, hold=str(uuid.uuid4()))


# Periodic tasks, and the stop of an engine


@passes('round.taken', 'round.done', states=BOTH)
def reconcile_periodically(world):
    group = world.planned()
    world.lose(group)
    return group, do.periodically, 'reconcile'


@passes('old.plans-deleted', 'old.statistics-deleted',
        'old.deletions-forgotten', states=BOTH)
def delete_old_records(world):
    group = world.planned()
    do.ask_plan(world.parts, str(uuid.uuid4()))
    world.parts.table.statistics.put(
        'a1', {'cpu_temperature': 50.0}, world.parts.clock())
    # Otherwise the lease of the group would expire, too.
    world.table.update_group(
        group, [GroupStatus.PLANNED], lease_expires_at=None)
    world.site = replace(world.site, ahead=YEAR)
    return group, do.periodically, 'forget'


@passes('stop.work-returned', states=BOTH)
def stop_with_work(world):
    group, plan = world.ask(), str(uuid.uuid4())
    do.ask_plan(world.parts, plan)
    return group, do.stop, group, plan


# The scheduler


def _failing(operation):
    """The scheduler is killed, so the conductor's request fails, and Nova puts
    the server in ERROR without a host."""
    def prepare(world):
        group, server = world.planned(), str(uuid.uuid4())
        world.failed(server)
        return group, operation, group, 'node-0', server
    prepare.__name__ = operation.__name__
    return prepare


passes('claim.row-claimed', 'claim.hold-swapped', 'claim.confirmed',
       states=BOTH)(_failing(do.claim))
passes('claim.row-moved', 'claim.hold-swapped', 'claim.confirmed',
       states=BOTH)(_failing(do.claim_elsewhere))
passes('claim.unswapped', 'claim.undone', 'claim.hold-checked',
       states=BOTH)(_failing(do.claim_without_success))
passes('claim.unswapped', 'claim.undone', 'claim.hold-checked',
       states=BOTH)(_failing(do.move_without_success))
passes('claim.undone', 'claim.refusal-written', 'claim.lost-dropped',
       states=BOTH)(_failing(do.refuse))


@passes('claim.one-undone', states=BOTH)
def claim_two_without_success(world):
    group, servers = world.planned(), [str(uuid.uuid4()) for _ in BOTH]
    world.sees(*(world.error(server) for server in servers))
    return group, do.claim_two_without_success, group, servers


@passes('evacuation.member-lost', 'evacuation.refusal-written',
        'evacuation.hold-dropped', 'evacuation.place-given-up', states=BOTH)
def free_capacity(world):
    group = world.planned()
    return group, do.free_capacity, group


@passes('built.row-changed', 'built.group-settled', states=BUILT)
def note_that_a_server_is_built(world):
    group = world.planned()
    server = world.claimed(group)
    return group, do.record_built, server


@passes('reconcile.settled', states={'node-0': 'built'})
def settle_in_a_pass(world):
    group = world.planned(nodes(1))
    server = world.claimed(group)
    world.dies('built.row-changed', do.record_built, server)
    return group, do.reconcile


# The API


@passes('api.group-created', again=True)
def ask_for_a_group(world):
    return None, do.api_create, 'key-1'


@passes('api.plan-created')
def ask_for_a_plan(world):
    return None, do.api_plan


@passes('api.task-asked',
        states={f'node-{number}': 'planned' for number in range(3)})
def ask_for_an_update(world):
    group = world.planned()
    return group, do.api_update, group
