# SPDX-License-Identifier: Apache-2.0
"""Refused hosts are stored for a description, and listed by the group."""

from datetime import timedelta

from nova_holistic.table.coordination.refusals import Refusal
from nova_holistic.table.records import GroupStatus
from tests.unit.table import builders

NOON = builders.NOON
REASON = {'at': 'db/node-0', 'message': 'host h1 is full', 'names': ['h1'],
          'hidden': [[5, 7]]}
OTHER = {'at': 'db/web', 'message': 'no room'}


def refused(table, group, *hosts, reason=REASON, at=NOON):
    row = table.members(group.uuid)[0]
    table.refusals.add(
        row, [Refusal(host, 'AFilter') for host in hosts], reason, at)


def test_refused_hosts_are_read_by_description(table):
    group = builders.planned(table, node=2)
    refused(table, group, 'h1', 'h2')
    assert table.refusals.of_group(group.uuid, NOON) == {
        'db/node': {'h1', 'h2'}}
    assert not table.refusals.of_group(builders.new_uuid(), NOON)


def test_refused_hosts_expire_and_are_renewed(table):
    group = builders.planned(table, node=2)
    refused(table, group, 'h1', 'h2')
    later = NOON + timedelta(hours=1)
    refused(table, group, 'h2', at=later)
    assert table.refusals.of_group(group.uuid, NOON) == {
        'db/node': {'h1', 'h2'}}
    assert table.refusals.of_group(group.uuid, later) == {'db/node': {'h2'}}


def test_the_reason_replaces_that_of_the_same_member_only(table):
    group = builders.planned(table, builders.a_group(
        reasons=(OTHER, {**REASON, 'message': 'an older one'})), node=2)
    refused(table, group, 'h1')
    assert table.get_group(group.uuid).reasons == (OTHER, REASON)


def test_a_reason_needs_no_refused_host(table):
    """The planner itself detects that the host is disabled."""
    group = builders.planned(table, node=2)
    refused(table, group)
    assert table.get_group(group.uuid).reasons == (REASON,)
    assert not table.refusals.of_group(group.uuid, NOON)


def test_nothing_is_written_for_a_group_without_a_plan(table):
    group = builders.planned(
        table, builders.a_group(GroupStatus.ERROR, reasons=(OTHER,)), node=1)
    refused(table, group, 'h1')
    assert table.get_group(group.uuid).reasons == (OTHER,)
    assert not table.refusals.of_group(group.uuid, NOON)


def test_refused_hosts_are_deleted_with_their_group(table):
    group = builders.planned(table, node=1)
    refused(table, group, 'h1')
    table.delete_group(group.uuid)
    assert not table.refusals.of_group(group.uuid, NOON)
