# SPDX-License-Identifier: Apache-2.0
"""The state machines, and their diagrams in the manual."""

import importlib.util
import pathlib
import re
import sys

import pytest

from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table import states
from tests.unit.table import builders

DOC = pathlib.Path(__file__).parents[3] / 'doc'
MACHINES = {'groups': (states.GROUPS, GroupStatus),
            'members': (states.MEMBERS, MemberState)}


def edges(machine):
    return {(t.before, t.after) for t in machine.transitions}


@pytest.mark.parametrize('machine, kind', MACHINES.values(), ids=MACHINES)
def test_each_state_can_be_entered_and_left(machine, kind):
    assert {before for before, _ in edges(machine)} == set(kind)
    assert {after for _, after in edges(machine)} | {machine.first} == (
        set(kind))


def test_a_status_that_members_decide_may_change_to_another_one():
    for status in SETTLING:
        assert [t for t in states.GROUPS.transitions
                if t.before == status and t.after in SETTLING]


@pytest.mark.parametrize('before', MemberState)
@pytest.mark.parametrize('after', MemberState)
def test_the_table_refuses_transitions_that_the_machine_lacks(
        table, shop, before, after):
    row = table.members(shop.uuid)[0]
    builders.force_state(table, row.id, before)
    if before == after or (before, after) in edges(states.MEMBERS):
        assert table.change_state(row.id, [before], after, builders.NOON)
        return
    with pytest.raises(states.IllegalTransition, match=f'{before} to {after}'):
        table.change_state(row.id, [before], after, builders.NOON)
    assert table.members(shop.uuid)[0].state == before


def test_a_group_does_not_change_its_status_illegally(table, shop):
    with pytest.raises(states.IllegalTransition):
        table.update_group(
            shop.uuid, [GroupStatus.PLANNED], status=GroupStatus.ERROR)


def test_an_engine_does_not_end_a_task_with_an_illegal_status(table, shop):
    assert table.tasks.request(
        shop.uuid, NewTask(
            'updating', {}, [GroupStatus.PLANNED], 1), builders.NOON)
    table.tasks.take(shop.uuid, 'engine', builders.NOON, builders.NOON)
    assert not table.tasks.finish(
        shop.uuid, 'engine', {'status': GroupStatus.UNPLACEABLE})
    record = table.get_group(shop.uuid)
    assert (record.status, record.engine) == (GroupStatus.PLANNED, 'engine')


@pytest.mark.parametrize('name', MACHINES)
def test_the_manual_draws_the_machine(name):
    text = (DOC / 'source/user/states.rst').read_text()
    assert f'.. state-machine:: {name}\n' in text
    machine, _ = MACHINES[name]
    drawn = _extension().drawing(machine)
    assert {tuple(found.split()) for found in re.findall(
        'data-edge="([^"]*)"', drawn)} == edges(machine)
    lines = '\n'.join(_extension().table(machine))
    for each in machine.transitions:
        assert (f'   * - {each.name}\n     - ``{each.before}``\n     - '
                f'``{each.after}``\n     - {each.cause}') in lines


def _extension():
    name = 'state_drawing'
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, DOC / 'ext/state_drawing.py')
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
