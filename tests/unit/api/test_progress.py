# SPDX-License-Identifier: Apache-2.0
"""A group shows how many of its holds are written while it is planned."""

from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task


def shown(service, group):
    """The API's document of the group, alone and in a list."""
    one = service.ask('GET', f'/v1/groups/{group}').json['group']
    listed, = service.ask('GET', '/v1/groups').json['groups']
    assert one['holds_written'] == listed['holds_written']
    return one['holds_written']


def write(service, group, holds):
    """An engine records how many holds it has written."""
    service.table.tasks.take(group, 'engine-1', service.now, service.now)
    assert service.table.tasks.change(
        group, 'engine-1', service.now, {'holds_written': holds})


def test_a_group_shows_how_many_holds_are_written(service):
    group = service.created()['id']
    assert shown(service, group) is None
    for number in (0, 2):
        write(service, group, number)
        assert shown(service, group) == number


def test_the_number_stays_when_the_engine_stops(service):
    group = service.created()['id']
    write(service, group, 2)
    service.table.tasks.return_work('engine-1')
    assert shown(service, group) == 2


def test_a_planned_group_shows_no_number(service):
    group = service.created()['id']
    write(service, group, 2)
    assert service.table.tasks.finish(
        group, 'engine-1', {'status': GroupStatus.PLANNED})
    assert shown(service, group) is None
    assert service.table.get_group(group).holds_written is None


def test_a_group_that_is_updated_shows_no_number(service):
    """Its members still have the holds of the previous definition."""
    group = service.planned()
    service.table.tasks.request(
        group, NewTask(Task.UPDATING, {}, [GroupStatus.PLANNED]), service.now)
    write(service, group, 2)
    assert shown(service, group) is None
