# SPDX-License-Identifier: Apache-2.0
"""Domains that are reserved for other servers exclude the new server."""

import contextlib
from dataclasses import replace
import types

import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.policies import exclusion
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.scheduler import request_memory
from nova_holistic.table.errors import TableError
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import PlacementTable
from tests.statements import recorded
from tests.tables import new_table
from tests.unit.builders import host
from tests.unit.table.builders import a_group, members_of

LEVELS = ('rack', 'host')
SMALL = {'VCPU': 1}
DOCUMENT = {
    'name': 'shop', 'members': [{'name': 'web', 'resources': SMALL}],
    'groups': [{'name': 'db', 'policies': [{'type': 'exclusive'}],
                'members': [{'name': 'node', 'resources': SMALL}]}]}
RESERVED = Domain('host', ('rack1', 'cmp-0'))


@pytest.fixture
def connections(tmp_path):
    """The connections of a scheduler that needs only the table."""
    return Connections(
        table=PlacementTable(new_table(tmp_path)), holds=None, placement=None,
        topology=types.SimpleNamespace(levels=LEVELS),
        policy_types=load_policy_types(), clock=None)


def reserve(connections):
    """A group whose database node reserves its host."""
    group = a_group(document=DOCUMENT, exclusive=True, levels=LEVELS)
    connections.table.create_group(group)
    connections.table.write_members(
        group.uuid, members_of(group, {'node': None}))
    return group


def closed(connections, own=None):
    return exclusion.closed_domains(connections, own)


def membership(connections, group, path):
    (node,) = connections.table.members(group.uuid)
    member = replace(node.member, path=path, description=path)
    return Membership(group, replace(node, member=member), [node])


def test_a_host_is_reserved_for_the_nested_group_only(
        connections):
    group = reserve(connections)
    assert closed(connections) == {RESERVED}
    own = membership(connections, group, 'db/node')
    assert closed(connections, own) == set()
    neighbour = membership(connections, group, 'web')
    assert closed(connections, neighbour) == {RESERVED}
    # This member has the same path, but belongs to another group.
    other_server = replace(own, record=a_group(document=DOCUMENT))
    assert closed(connections, other_server) == {RESERVED}


def test_a_member_without_allocations_reserves_nothing(connections):
    group = reserve(connections)
    (node,) = connections.table.members(group.uuid)
    connections.table.change_state(
        node.id, [MemberState.PLANNED], MemberState.RELEASED, None)
    assert closed(connections) == set()


def test_a_document_that_cannot_be_read_reserves_nothing(connections):
    """The package of a policy type of the document is no longer installed."""
    reserve(connections)
    assert closed(replace(connections, policy_types={})) == set()


@pytest.mark.parametrize('fails', [False, True])
def test_one_request_has_one_view_and_the_next_one_a_new_view(
        connections, fails):
    @request_memory.read_once
    def first():
        assert closed(connections) == set()
        reserve(connections)
        assert closed(connections) == set()
        if fails:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) if fails else (
            contextlib.nullcontext()):
        first()
    assert closed(connections) == {RESERVED}
    assert request_memory.read_once(closed)(connections) == {RESERVED}


@pytest.mark.parametrize('by_plan, sent', [(True, 0), (False, 1)])
def test_only_a_planned_host_is_checked_with_the_state_of_the_first_read(
        connections, by_plan, sent):
    """A move, and a server outside of the plan, read the state again."""
    group = reserve(connections)
    closed(connections)
    node, = connections.table.members(group.uuid)
    cache = connections.table.group_cache
    cache.read(group.uuid)
    own = Membership(group, node, [node], by_plan=by_plan)

    @request_memory.read_once
    def answer():
        request_memory.put(request_memory.EXCLUSIVE_STATE,
                           cache.read_for(group.uuid, 'db/node').exclusive)
        with recorded(connections.table.database.engine) as statements:
            assert closed(connections, own) == set()
        assert len(statements.sent) == sent

    answer()


def test_outside_of_a_request_nothing_is_remembered(connections):
    assert closed(connections) == set()
    reserve(connections)
    assert closed(connections) == {RESERVED}


def away(*args, **kwargs):
    raise TableError('placement table: no route to host')


def test_reserved_domains_are_closed_while_the_table_is_unavailable(
        connections, monkeypatch, caplog):
    group = reserve(connections)
    own = membership(connections, group, 'db/node')
    assert closed(connections) == {RESERVED}
    monkeypatch.setattr(connections.table, 'exclusive_groups', away)
    assert closed(connections) == {RESERVED}
    assert closed(connections, own) == set()
    assert '1 reservations that were last read apply' in caplog.text


def test_returned_domains_are_open_when_the_table_is_available(
        connections, monkeypatch):
    group = reserve(connections)
    assert closed(connections) == {RESERVED}
    connections.table.delete_group(group.uuid)
    with monkeypatch.context() as patch:
        patch.setattr(connections.table, 'exclusive_groups', away)
        assert closed(connections) == {RESERVED}
    assert closed(connections) == set()


def test_a_table_that_was_never_read_is_an_error(connections, monkeypatch):
    reserve(connections)
    monkeypatch.setattr(connections.table, 'exclusive_groups', away)
    with pytest.raises(TableError):
        closed(connections)


def test_a_pointer_opens_domains_without_the_table(connections):
    """The pointer opens the domains of its group, if the group belongs to the
    project of the server."""
    group = reserve(connections)
    last = exclusion.last_closed_domains
    assert last(connections, group.uuid, 'blue') == set()
    closed(connections)
    assert last(connections, None, 'blue') == {RESERVED}
    assert last(connections, group.uuid, 'blue') == set()
    assert last(connections, group.uuid, 'red') == {RESERVED}


@pytest.mark.parametrize('reserved, inside', [
    (Domain('host', ('r1', 'h1')), True),
    (Domain('host', ('r2', 'h1')), False),
    (Domain('rack', ('r1',)), True),
    (Domain('rack', ('h1',)), False),
    (Domain('power', ('A',)), True),
    (Domain('power', ('B',)), False),
])
def test_a_host_is_closed_by_the_domain_that_it_is_in(reserved, inside):
    labelled_host = host('h1', 'r1', labels={'power': 'A'})
    assert exclusion.is_closed(
        frozenset({reserved}), labelled_host, LEVELS) is inside


def test_without_reservations_no_host_is_closed():
    assert not exclusion.is_closed(frozenset(), host('h1', 'r1'), LEVELS)
