# SPDX-License-Identifier: Apache-2.0
"""Scenarios in which a create finds no planned place, and its member may have
more servers: two are planned, and four are allowed."""

from dataclasses import replace
from unittest import mock
import uuid

import pytest

from nova_holistic import policies
from nova_holistic.scheduler.claim import held_siblings, member_growth
from nova_holistic.scheduler.claim.member_growth import MemberGrowth
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.table.changes.claim import SeenRows
from nova_holistic.table.store import OCCUPYING
from tests.services.crash import operations as do
from tests.services.crash.operations import nodes
from tests.services.crash.scenarios import BOTH, passes
from tests.world.base import SMALL

SHRUNK = {**BOTH, 'node-2': 'released'}


def _elastic(world):
    return world.planned(nodes(
        {'min': 1, 'desired': 2, 'max': 4}, level='host'))


def grow(parts, group, server):
    """The scheduler places another server."""
    claims = do._claims(parts)
    claims.swap(_grown(parts, claims, group, server))
    claims.confirm()


def grow_without_success(parts, group, server):
    """The claim of the new member is undone after its allocation."""
    claims = do._claims(parts)
    claims.swap(_grown(parts, claims, group, server))
    assert claims.undo()


def grow_without_a_place(parts, group, server):
    """The scheduler finds no host within its time limit."""
    with pytest.raises(RequestRefused, match='no host has room'):
        _grown(parts, do._claims(parts), group, server, limit=0)


def _grown(parts, claims, group, server, limit=1):
    """The row of the new member.

    :param limit: maximum number of hosts that the scheduler finds
    """
    hosts = mock.Mock()
    hosts.resource_request.merged_resources.return_value = SMALL
    hosts.allowed = lambda own, places, _: [
        place for place in places if place.host not in {
            row.place.host for row in own.rows
            if row.state in OCCUPYING}][:limit]
    search = mock.Mock()
    search.places.return_value = []
    growth = MemberGrowth(
        mock.Mock(request_id='req-1'), mock.Mock(), replace(
            do._connections(parts),
            policy_types=policies.load_policy_types()), hosts, search)
    # Nova is not called: it has deleted no server, and the request is valid.
    with mock.patch.object(member_growth.deleted_servers, 'deleted_servers',
                           return_value=[]), \
            mock.patch.object(member_growth.request_check, 'check_match'), \
            mock.patch.object(member_growth, 'CONF', parts.conf):
        return growth.grow(claims, Pointer(group, 'node'), server,
                           RequestRefused('no planned place is left'))


def take_a_place_of_another_number(parts, group, server):
    """The scheduler gives a server the held place of another number."""
    row, _ = held_siblings.take_over(
        replace(do._connections(parts),
                policy_types=policies.load_policy_types()),
        Pointer(group, 'node-5'))
    claims = do._claims(parts)
    claims.swap(claims.take(
        group, 'node-5', server, SeenRows([row], are_bare=False)))
    claims.confirm()


def _with_failed_server(world):
    """The scheduler is killed, so Nova puts the server in ERROR."""
    group, server = _elastic(world), str(uuid.uuid4())
    world.failed(server)
    return group, server


@passes('claim.row-grown', 'claim.hold-swapped', 'claim.confirmed',
        states=SHRUNK)
def place_a_further_server(world):
    group, server = _with_failed_server(world)
    return group, grow, group, server


@passes('claim.row-grown', 'claim.allocation-dropped', 'claim.shrunk',
        states=SHRUNK)
def fail_to_place_a_further_server(world):
    group, server = _with_failed_server(world)
    return group, grow_without_success, group, server


@passes('claim.plan-asked', states={**BOTH, 'node-2': 'planned'})
def find_no_place_for_a_further_server(world):
    group = _elastic(world)
    return group, grow_without_a_place, group, str(uuid.uuid4())


@passes('claim.place-handed-over', states={
    'node-0': 'planned', 'node-1': 'released', 'node-5': 'planned'})
def take_a_held_place(world):
    group, server = _with_failed_server(world)
    return group, take_a_place_of_another_number, group, server
