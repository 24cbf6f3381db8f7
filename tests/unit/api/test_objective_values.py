# SPDX-License-Identifier: Apache-2.0
"""A group shows value, bound and gap of its plan from version 1.4 on."""

import pytest

VALUE = {'name': 'spread', 'value': 4.0, 'bound': 3.0, 'gap': 0.25, 'kept': 2}


def headers(version):
    return {'OpenStack-API-Version': f'holistic {version}'}


def planned(service, value):
    """A group to which an engine has written the value of its plan."""
    group = service.created()['id']
    service.table.tasks.take(group, 'engine-1', service.now, service.now)
    assert service.table.tasks.change(
        group, 'engine-1', service.now, {'objective_value': value})
    return group


@pytest.mark.parametrize('value', [
    None, VALUE, VALUE | {'bound': None, 'gap': None}])
def test_a_group_shows_the_value_of_its_plan(service, value):
    path = f'/v1/groups/{planned(service, value)}'
    shown = service.ask('GET', path, headers=headers('1.4')).json['group']
    assert shown['objective_value'] == value
    for version in '1.0', '1.3':
        shown = service.ask('GET', path, headers=headers(version)).json
        assert 'objective_value' not in shown['group']


def test_the_list_does_not_show_it(service):
    planned(service, VALUE)
    listed, = service.ask(
        'GET', '/v1/groups', headers=headers('1.4')).json['groups']
    assert 'objective_value' not in listed
