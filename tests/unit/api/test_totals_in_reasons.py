# SPDX-License-Identifier: Apache-2.0
"""Users cannot read how many hosts and domains the cloud has."""

from dataclasses import replace
import json
import pathlib
import re

import pytest

from nova_holistic.api.views.reasons import visible_reasons
from nova_holistic.constraints.group_constraints import (
    PlanningContext, with_constraints, with_refusals)
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.documents.source.text import load
from nova_holistic.engine.decision import exclusive_hosts, refused_hosts
from nova_holistic.engine.decision.plan_analysis import PlanAnalysis
from nova_holistic.engine.plan_answers import answer_request
from nova_holistic.engine.reasons import of_engine
from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.messages.cloud_totals import part, total
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Reason
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies import load_policy_types
from nova_holistic.policies.location import Location
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from nova_holistic.table.records import PlanRecord, PlanStatus
from tests.unit.api.service import ADMIN, MEMBER, SHOP
from tests.unit.builders import cloud, group, host, servers

DATA = pathlib.Path(__file__).parents[2] / 'data'
CASES = sorted((DATA / 'unplaceable').glob('*.yaml'))


def _read(reasons, hosts=False):
    """The reasons that clients read after they were stored in the table."""
    rows = json.loads(json.dumps([each.to_row() for each in reasons]))
    return [each['message'] for each in visible_reasons(rows, hosts)]


def test_only_operators_read_totals_in_any_sentence():
    first = Reason.of('web', format_message(
        'of all {} racks, {:name} alone is good for {} servers, among {}',
        total('20', 'the'), 'r1', 3, part(2, 12, 'enabled')))
    assert _read([first]) == [
        'of all the racks, … alone is good for 3 servers,'
        ' among part of the enabled hosts']
    assert _read([first], hosts=True) == [
        'of all 20 racks, r1 alone is good for 3 servers, among 2 of 12 '
        'enabled hosts']


@pytest.mark.parametrize('message, read', [
    ('needs 21 racks; there are 20', 'needs 21 racks; there are too few'),
    ('1 of 20 hosts is in location x', 'part of the hosts is in location x'),
    ('leaves none of 12 enabled hosts', 'leaves none of the enabled hosts'),
    ('none of these 6 has trait X', 'none of these has trait X'),
    ('no plan for 5 members on 12 hosts was found within 10 s',
     'no plan for 5 members on the hosts was found within 10 s'),
    ('needs 4 racks; 3 racks have room for VCPU 8',
     'needs 4 racks; 3 racks have room for VCPU 8'),
    ('needs 3 racks; there are 2 members',
     'needs 3 racks; there are 2 members')])
def test_totals_are_found_in_rows_of_earlier_versions(message, read):
    reason = {'at': 'web', 'message': message, 'names': [], 'hidden': []}
    assert visible_reasons([reason],
                           hosts=False) == [{'at': 'web', 'message': read}]
    assert visible_reasons([reason],
                           hosts=True) == [{'at': 'web', 'message': message}]


def _case(path):
    document = load(path.read_text())
    inventory = document['inventory']
    snapshot = parse_inventory(
        load((DATA / f'{inventory}.yaml').read_text())
        if isinstance(inventory, str) else inventory)
    return parse_group(document['group'], load_policy_types()), snapshot


def _larger(snapshot, more, all_enabled):
    """The same cloud with more hosts, none of which has capacity."""
    spare = snapshot.hosts[0]
    return replace(snapshot, hosts=(*snapshot.hosts, *(
        replace(spare, name=f'spare-{number}', node=f'spare-{number}',
                uuid=None, inventories=FrozenMapping(),
                location=(*spare.location[:-1], f'spare-rack-{number}'),
                enabled=all_enabled or number > 0)
        for number in range(more))))


def _texts(snapshot, asked, hosts):
    answer = solve(bind(asked, snapshot), snapshot)
    return _read(mark_names(answer.reasons, snapshot), hosts)


def _wording(texts):
    return [re.sub(r'\d+', '0', text) for text in texts]


@pytest.mark.parametrize('all_enabled', [True, False])
def test_users_read_the_same_on_a_larger_cloud(all_enabled):
    compared = 0
    for path in CASES:
        asked, snapshot = _case(path)
        clouds = [_larger(snapshot, more, all_enabled) for more in (1, 8)]
        first, first_there = (
            _texts(each, asked, hosts=True) for each in clouds)
        if first != first_there and _wording(first) == _wording(first_there):
            # Only the totals of the cloud differ.
            compared += 1
            read, read_there = (_texts(each, asked, hosts=False)
                                for each in clouds)
            assert read == read_there, path.stem
    assert compared >= 5


def _racks(number):
    """Three zones with this number of racks of as many hosts. The first host
    of each rack is fast, and the others have disks."""
    return cloud(*(
        host(f'h{zone}-{rack}-{each}', f'z{zone}', f'r{zone}-{rack}',
             traits=frozenset({'DISK' if each else 'FAST'}))
        for zone in range(3) for rack in range(number)
        for each in range(number)), levels=('az', 'rack', 'host'))


def _db(count, *policies, **requirements):
    return group(servers('db', count, **requirements), policies=policies)


IN_ONE_RACK = AntiAffinity(), Location(path=('z0', 'r0-0'))
FAST, DISK = frozenset({'FAST'}), frozenset({'DISK'})


@pytest.mark.parametrize('phrase, asked', [
    ('there are too few', _db(30, AntiAffinity(level='rack'))),
    ('evenly over the racks', _db(37, Spread(level='rack', max_skew=0))),
    ('… has too few',
     _db(7, AntiAffinity(level='rack'), Affinity(level='az'))),
    ('leaves part of the hosts', _db(7, *IN_ONE_RACK)),
    ('too few are left', _db(7, *IN_ONE_RACK)),
    ('part of the hosts have trait', _db(1, required_traits=FAST | DISK)),
    ('none of these has trait', _db(1, required_traits=FAST | DISK)),
    ('none of these is without trait DISK',
     _db(1, Traits(has=DISK, lacks=frozenset()), forbidden_traits=DISK)),
    ('there are too few hosts with trait FAST',
     _db(20, AntiAffinity(), vcpus=0, required_traits=FAST))])
def test_each_kind_of_sentence_hides_its_totals(phrase, asked):
    clouds = _racks(3), _racks(5)
    first, first_there = (_texts(each, asked, hosts=True) for each in clouds)
    assert first != first_there and _wording(first) == _wording(first_there)
    read, read_there = (_texts(each, asked, hosts=False) for each in clouds)
    assert any(phrase in text for text in read)
    assert read == read_there


def test_hosts_that_nova_or_other_groups_close_are_not_counted_for_users():
    snapshot = cloud(*(host(f'h{number}', 'r1') for number in range(9)))
    by_name = {each.name: each for each in snapshot.hosts}
    reasons = [
        *refused_hosts.reasons({'web': ['h1', 'h2']}, by_name),
        *exclusive_hosts.reasons(frozenset({'h3'}), by_name),
        of_engine(format_message('no plan on {} hosts', total('9', 'the')))]
    assert _read(reasons) == [
        "Nova's filters refused part of the hosts for this member: these have "
        'the trait refused:web',
        'part of the hosts count as disabled: they are reserved for other '
        'groups', 'no plan on the hosts']
    assert ['9' in text for text in _read(reasons, hosts=True)] == [True] * 3


def test_hosts_that_a_filter_excludes_are_not_counted_for_users():
    snapshot = cloud(*(host(f'h{number}', 'r1', availability_zone='az1')
                       for number in range(9)))
    asked = group(servers('web', 1))
    options = replace(NovaOptions(), default_schedule_zone='az2')
    marked, first = with_refusals(
        snapshot, asked, PlanningContext(None, {}, {}, {}), options)
    assert with_constraints(asked, marked, options, None) != asked
    assert _read(first, hosts=True) == [
        "Nova refuses 9 of 9 hosts for this member (default_schedule_zone 9): "
        f'these have the trait {_trait(first)}']
    assert _read(first) == [
        'Nova refuses part of the hosts for this member '
        f'(default_schedule_zone): these have the trait {_trait(first)}']


def _trait(reasons):
    return reasons[0].message.partition('these have the trait ')[2]


@pytest.mark.parametrize('more', [{}, {
    'public': 'no plan for 5 members on the hosts was found within 10 s'}],
    ids=['earlier version', 'this version'])
def test_a_requested_plan_that_was_not_found_shows_no_total(service, more):
    message = 'no plan for 5 members on 12 hosts was found within 10 s'
    uuid = service.ask('POST', '/v1/plans', {'group': SHOP}).json['plan']['id']
    service.make_plan(uuid, PlanStatus.UNKNOWN, message=message, **more)
    for token, text in ((MEMBER, message.replace('12', 'the')),
                        (ADMIN, message)):
        shown = service.ask('GET', f'/v1/plans/{uuid}', token=token)
        assert shown.json['plan']['message'] == text
        assert 'public' not in shown.json['plan']


def test_a_plan_that_was_not_found_does_not_count_the_hosts_for_users():
    asked, snapshot = _case(CASES[0])
    found = solve(bind(asked, snapshot), snapshot,
                  settings=Settings(time_limit=0.0))
    number = str(len(snapshot.hosts))
    assert f'on {number} hosts' in found.message
    (text,) = _read([of_engine(found.message)])
    assert 'on the hosts' in text and number not in text
    answer = answer_request(lambda: PlanAnalysis(found), PlanRecord(
        'uuid', 'blue', 'ann', 'web', PlanStatus.PLANNING, {}, 'spread'))
    assert answer.document['public'] == text
