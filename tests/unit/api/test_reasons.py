# SPDX-License-Identifier: Apache-2.0
"""Reasons for a project contain no names of hosts; those for administrators
do."""

import pytest

from nova_holistic.api.views.reasons import GENERAL, visible_reasons
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Reason
from nova_holistic.table.records import GroupStatus
from tests.unit.api.service import ADMIN, MEMBER, SHOP

SNAPSHOT = Snapshot(('az', 'rack', 'host'), (
    Host('cmp-1', 'cmp-1.example.org', 'u1', ('az1', 'r7'), FrozenMapping(),
         labels=FrozenMapping({'power': 'feed-A'})),
    Host('cmp-10', 'cmp-10', 'u2', ('az1', '3'), FrozenMapping())))


def visible(message, hosts=False, at='web', snapshot=SNAPSHOT):
    (reason,) = mark_names([Reason(at, message)], snapshot)
    (found,) = visible_reasons([reason.to_row()], hosts)
    return found['message']


def test_names_of_hosts_and_domains_are_hidden():
    assert visible('rack az1/r7 takes 2; r7 has no room (cmp-1)') == (
        'rack … takes 2; … has no room (…)')
    assert visible("host 'cmp-10': feed-A is off, cmp-1.example.org") == (
        "host '…': … is off, …")


def test_administrators_see_all_names():
    message = 'rack az1/r7 takes 2 on cmp-1'
    assert visible(message, hosts=True) == message


def test_numbers_and_words_similar_to_names_are_kept():
    message = '3 racks have room, and r77 and cmp-100 none'
    assert visible(message) == message


PLAIN = Snapshot(('room', 'rack', 'host'), tuple(
    Host(name, name, name, (room, rack), FrozenMapping(),
         labels=FrozenMapping({'power': feed}))
    for name, room, rack, feed in (
        ('host', 'north', 'a', 'on'), ('the', 'north', '3', 'off'),
        ('no', 'room', 'web', 'members'))))
"""Names that are also common words."""


@pytest.mark.parametrize('message, expected', [
    ('needs a host of a rack', 'needs a host of a rack'),
    ('rack a takes 2; a rack needs 3', 'rack … takes 2; a rack needs 3'),
    ('rack 3 holds 3 members, and the limit is 2: web, node-1',
     'rack … holds 3 members, and the limit is 2: web, node-1'),
    ('no host is enabled', 'no host is enabled'),
    ('host host is disabled', 'host … is disabled'),
    ('the 3 members need VCPU 8 in all; the 2 hosts that suit them have 3',
     'the 3 members need VCPU 8 in all; the 2 hosts that suit them have 3'),
    ('2 racks of north have room for VCPU 2',
     '2 racks of … have room for VCPU 2'),
    ("host 'the' and rack north/a", "host '…' and rack …"),
    ('members are in 2 domains of level rack instead of one: '
     'a has web, b; 3 more', 'members are in 2 domains of level rack instead '
     'of one: … has web, b; 3 more'),
    ('the member is on host no already and cannot be on host',
     'the member is on host … already and cannot be on …'),
    ('keeps members on the way to power on, and power off',
     'keeps members on the way to power …, and power …'),
    ('room room holds web', 'room … holds web'),
    ('hosts in room north, a and the', 'hosts in room …, … and …')])
def test_names_that_are_common_words_are_hidden_where_they_are_names(
        message, expected):
    assert visible(message, snapshot=PLAIN) == expected


def test_names_listed_by_an_older_engine_are_hidden():
    (found,) = visible_reasons([{'at': 'web', 'message': 'rack r7 has a host',
                                 'names': ['r7', 'a']}], False)
    assert found['message'] == 'rack … has … host'


@pytest.mark.parametrize('at', ['', 'web', 'members[0].flavor'])
def test_a_reason_that_was_not_searched_for_names_is_not_reported(at):
    row = Reason(at, 'host x is closed').to_row()
    assert visible_reasons([row], False) == [{'at': at, 'message': GENERAL}]
    assert visible_reasons([row],
                           True) == [{'at': at, 'message': 'host x is closed'}]


def test_a_project_sees_a_failure_without_its_details():
    message = 'the plan was outdated 5 times; last attempt: host x is closed'
    row = Reason('', message,
                 public='the plan was outdated 5 times').to_row()
    for hosts, text in ((False, 'the plan was outdated 5 times'),
                        (True, message)):
        assert visible_reasons([row], hosts) == [{'at': '', 'message': text}]


def test_a_project_sees_reasons_without_names(service):
    group = service.created()['id']
    reasons = [r.to_row() for r in mark_names(
        [Reason('web', 'rack az1/r7 is full')], SNAPSHOT)]
    service.settle(group, GroupStatus.UNPLACEABLE, reasons=reasons)
    shown = service.ask('GET', f'/v1/groups/{group}', token=ADMIN)
    assert shown.json['group']['reasons'][0]['message'] == (
        'rack az1/r7 is full')
    shown = service.ask('GET', f'/v1/groups/{group}')
    assert shown.json['group']['reasons'] == [
        {'at': 'web', 'message': 'rack … is full'}]
    (listed,) = service.ask('GET', '/v1/groups').json['groups']
    assert listed['reasons'] == shown.json['group']['reasons']


def test_a_failed_update_hides_its_details_from_the_project(service):
    group = service.created()['id']
    service.settle(group, GroupStatus.UNPLACEABLE)
    service.ask('PUT', f'/v1/groups/{group}', {'group': SHOP},
                headers={'If-Match': '"1"'})
    message = 'Placement: Unable to connect to http://10.0.0.1:8778'
    service.settle(group, GroupStatus.UNPLACEABLE,
                   reasons=[Reason('', message).to_row()])
    for token, visible in ((MEMBER, GENERAL), (ADMIN, message)):
        shown = service.ask('GET', f'/v1/groups/{group}', token=token)
        assert shown.json['group']['reasons'] == [
            {'at': '', 'message': visible}]


def test_a_project_sees_why_its_group_is_unplaceable():
    assert visible('no 3 racks have room; 2 have', at='') == (
        'no 3 racks have room; 2 have')
