# SPDX-License-Identifier: Apache-2.0
"""Reasons for a project do not depend on the names of hosts, domains and
aggregates, and do not contain them. Only the requested zone is named."""

import functools
import json
import re

import pytest

from nova_holistic.api.views.reasons import visible_reasons
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.messages.marked_text import MarkedText
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Reason, Unplaceable
from nova_holistic.model.policy import Violations
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.aggregates import Aggregates
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.availability_zone import AvailabilityZone
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve
from nova_holistic.table.records import GroupStatus
from tests.effort import some
from tests.unit.api.service import ADMIN
from tests.unit.builders import cloud, group, host, servers

PLAIN = ('⟦a⟧', '⟦b⟧', '⟦c⟧', '⟦d⟧', '⟦e⟧', '⟦f⟧', '⟦g⟧', '⟦h⟧',
         '⟦i⟧')
"""Two racks, four hosts, a zone, an aggregate, and a host that does not exist,
in this order."""

STRANGE = (
    ('a', 'members', 'host', 'room', 'the', 'web-0', 'one', 'no', 'in'),
    ('1', '3', '2', '4', 'db-0', 'host', 'members', 'of', '0'),
    ('domains', 'is', 'and', 'has', 'on', 'rack', 'most', 'to', 'already'),
    ('rack', 'web', 'free', 'in', 'level', 'lacks', 'trait', 'zone', 'be'),
    ('Ä', 'β', 'é', 'ü', '東京', '𝔥', 'å', 'ñ', 'ö'),
    ('needs; leaves', 'web, db', 'a b', 'c: d', 'of "x"', '(y', "z'", 'w)',
     'v: u; t'))


def _cloud(names):
    first, second, *hosts = names[:6]
    zone, aggregate = names[6:8]
    return cloud(
        host(hosts[0], first, vcpus=4, traits=frozenset({'SSD'})),
        host(hosts[1], first, vcpus=4, servers=2),
        host(hosts[2], second, vcpus=4, availability_zone=zone,
             aggregates=frozenset({aggregate})),
        host(hosts[3], second, vcpus=4, enabled=False),
        links=[Link((first,), 100, 90), Link((second,), 100, 100)])


def _rules(names):
    """All kinds of policies for members together."""
    first, zone, aggregate = names[0], *names[6:8]
    policies = [
        Affinity(level='rack'), AntiAffinity(level='rack'),
        AntiAffinity(level='host'), Aggregates(names=frozenset({aggregate})),
        AvailabilityZone(zone=zone), Exclusive(level='rack'),
        Location(path=(first,)), Spread(level='rack', max_skew=1),
        Spread(level='rack', min_domains=3),
        Traits(has=frozenset({'GPU'}), lacks=frozenset({'SSD'}))]
    relationships = [each(level='rack', between=('web', 'db')) for each in (
        RelationshipAffinity, RelationshipAntiAffinity,
        functools.partial(Bandwidth, mbps=20))]
    return [([], []), *(([each], []) for each in policies),
            *(([], [each]) for each in relationships)]


def _groups(names):
    """Each rule with each requirement."""
    first, zone, aggregate = names[0], *names[6:8]
    for policies, relationships in _rules(names):
        for wanted in ({}, {'vcpus': 9}, {'availability_zone': zone},
                       {'location': (first,)},
                       {'aggregates': frozenset({aggregate})},
                       {'required_traits': frozenset({'SSD'})}):
            yield group(servers('web', 3, **wanted), servers('db', 2),
                        policies=policies, relationships=relationships)


def _checked(names):
    """The violations of placements that violate nearly every policy."""
    snapshot = _cloud(names)
    hosts = [h.name for h in snapshot.hosts]
    paths = ('web-0', 'web-1', 'web-2', 'db-0', 'db-1')
    for where in ((0, 0, 2, 1, 3), (1, 1, 1, 3, 3), (2, 2, 0, 2, 2)):
        placement = {path: hosts[i] for path, i in zip(paths, where)}
        before = {'web-0': hosts[3], 'web-1': names[8]}
        for each in _groups(names):
            yield from check(each, snapshot, placement)
            yield from check(each, snapshot, {
                **placement, 'x': hosts[0], 'web-2': names[8]}, before)


def _solved(names):
    snapshot = _cloud(names)
    for each in _groups(names):
        for placed in ({}, {'web-0': names[2]}, {
                'web-0': names[2], 'db-0': names[4]}):
            answer = solve(each, snapshot, placed=placed)
            if isinstance(answer, Unplaceable):
                yield from answer.reasons


def _shown(reasons, names, hosts=False):
    """The reasons after they were stored in the table."""
    rows = [json.loads(json.dumps(reason.to_row()))
            for reason in mark_names(list(reasons), _cloud(names))]
    return [each['message'] for each in visible_reasons(rows, hosts)]


def _expected(reasons, zone=PLAIN[6]):
    """:param zone: name of the zone"""
    texts = (MarkedText(reason.message, totals=reason.totals).public()
             for reason in reasons)
    return [re.sub(r'⟦[^g]⟧(/⟦.⟧)*', '…', text).replace('⟦g⟧', zone)
            for text in texts]


@pytest.fixture(scope='module')
def plain():
    return {make: list(make(PLAIN)) for make in (_checked, _solved)}


@pytest.mark.parametrize('make', [_checked, _solved])
def test_unambiguous_names_are_hidden(make, plain):
    found = plain[make]
    assert len({reason.message for reason in found}) > 20
    assert _shown(found, PLAIN) == _expected(found)
    assert sum('…' in text for text in _shown(found, PLAIN)) > 20
    assert _shown(found, PLAIN, hosts=True) == [r.message for r in found]


@pytest.mark.parametrize('make, names', [
    *((_checked, names) for names in STRANGE),
    *((_solved, names) for names in some(STRANGE, 3))])
def test_unusual_names_are_hidden_and_nothing_else_is(make, names, plain):
    found = list(make(names))
    assert sorted(_shown(found, names)) == sorted(
        _expected(plain[make], names[6]))
    by_name = dict(zip(PLAIN, names))
    assert sorted(_shown(found, names, hosts=True)) == sorted(
        re.sub('⟦.⟧', lambda m: by_name[m.group()], reason.message)
        for reason in plain[make])


class Outside(Affinity):
    """A policy of another package, which does not mark names."""

    def check(self, scope, placement, snapshot):
        return Violations(1, ('rack a is not what members of a group want',))


def test_names_are_found_in_messages_that_mark_none():
    names = STRANGE[0]
    (reason,) = check(group(servers('x', 1), policies=[Outside()]),
                      _cloud(names), {'x-0': 'host'})
    assert _shown([reason], names) == [
        'rack … is not what members of a group want']


def test_marked_names_stay_marked_next_to_detected_names():
    snapshot = _cloud(('a b', 'r', 'h', 'i', 'j', 'k', 'z', 'g', 'l'))
    reason = Reason('x', 'see a b, host h', None, ((4, 7),))
    (found,) = mark_names([reason], snapshot)
    assert found.hidden == ((4, 7), (14, 15))
    assert found.names == ('a b', 'h')


def test_marked_names_are_stored_in_the_table(service):
    uuid = service.created()['id']
    names = STRANGE[4]
    reasons = mark_names(check(
        group(servers('web', 1), policies=[Location(path=(names[1],))]),
        _cloud(names), {'web-0': names[2]}), _cloud(names))
    service.settle(uuid, GroupStatus.UNPLACEABLE,
                   reasons=[r.to_row() for r in reasons])
    for token, message in (
            (ADMIN, 'web-0 is on host Ä/é, not below β'),
            (None, 'web-0 is on host …, not below …')):
        answer = service.ask('GET', f'/v1/groups/{uuid}',
                             **({'token': token} if token else {}))
        assert [r['message'] for r in answer.json['group']['reasons']] == [
            message]
