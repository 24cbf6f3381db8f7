# SPDX-License-Identifier: Apache-2.0
"""Facts that are read from a child with a credential of the operator."""

from dataclasses import replace
from datetime import timedelta
import json
from types import SimpleNamespace

import pytest

from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.facts.fact_reader import FactReader
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.federation.facts.known_facts import KnownFacts
from nova_holistic.federation.facts.pruning import exclusion
from nova_holistic.federation.offers.tiers import tiers
from nova_holistic.federation.results import Candidate
from nova_holistic.model.frozen import FrozenMapping
from tests.unit.federation.clouds import member, NOON, Time
from tests.unit.federation.http_servers import answering, exchange

PAGES = [[{'id': 'h1', 'vcpus': 8, 'memory_mb': 64, 'vcpus_used': 9,
           'memory_mb_used': 16}],
         [{'id': 'h2', 'vcpus': 4, 'memory_mb': 128, 'vcpus_used': 9,
           'memory_mb_used': 80}]]
RATIOS = {'VCPU': {'allocation_ratio': 2.0},
          'MEMORY_MB': {'allocation_ratio': 1.0}}
ANSWERS = {
    '/os-availability-zone': {'availabilityZoneInfo': [
        {'zoneName': 'az1', 'zoneState': {'available': True}}]},
    '/os-aggregates': {'aggregates': [{'name': 'hipaa', 'id': 1}]},
    '/os-hypervisors/detail?limit=1000': {
        'hypervisors': PAGES[0], 'hypervisors_links': [{'rel': 'next'}]},
    '/os-hypervisors/detail?limit=1000&marker=h1': {'hypervisors': PAGES[1]},
    '/traits?associated=true': {'traits': ['HW_CPU_X86_AVX2']},
    **{f'/resource_providers/{name}/inventories': {'inventories': RATIOS}
       for name in ('h1', 'h2')}}
# 18 of 24 VCPU, and 96 of 192 MiB, are in use.
ALL = Facts(frozenset({'az1'}), frozenset({'HW_CPU_X86_AVX2'}),
            frozenset({'hipaa'}), FrozenMapping({'VCPU': 8, 'MEMORY_MB': 128}),
            all_classes=False, share_in_use=0.75, read_at=NOON)


def respond_with(handler, answers):
    answer = answers.get(handler.path)
    body = json.dumps(answer).encode()
    handler.send_response(403 if answer is None else 200)
    handler.send_header('Content-Length', str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def read(answers):
    """Return the facts of a child with these responses, and the requests."""
    seen = {}

    def respond(handler):
        seen[handler.path] = handler.headers['OpenStack-API-Version']
        respond_with(handler, answers)

    with answering(respond) as url:
        one = exchange(url)
        return FactReader(one, one, lambda: NOON).read(), seen


def test_facts_are_read_from_nova_and_placement():
    found, seen = read(ANSWERS)
    assert found == ALL
    assert {path: version for path, version in seen.items()
            if path.startswith('/traits')} == {
                '/traits?associated=true': 'placement 1.6'}
    assert set(seen) == set(ANSWERS)


@pytest.mark.parametrize('path, fact', [
    ('/os-availability-zone', 'zones'), ('/os-aggregates', 'aggregates'),
    ('/traits?associated=true', 'traits'),
    ('/os-hypervisors/detail?limit=1000&marker=h1', 'largest')])
@pytest.mark.parametrize('answer', [None, [], {'traits': [5]}, {
    'hypervisors': [{'id': 'h2', 'vcpus': -1, 'memory_mb': 1}]}])
def test_a_fact_that_is_refused_or_invalid_is_unknown(path, fact, answer):
    found, _ = read({**ANSWERS, path: answer})
    assert getattr(found, fact) is None
    assert [name for name in ('zones', 'traits', 'aggregates', 'largest')
            if getattr(found, name) is None] == [fact]


class Broken:
    child = 'dfw'

    def send(self, *args, **kwargs):
        raise ValueError('not a response')


def test_an_unexpected_error_makes_only_its_facts_unknown(caplog):
    """Placement's client has an error."""
    with answering(lambda handler: respond_with(handler, ANSWERS)) as url:
        found = FactReader(exchange(url), Broken(), lambda: NOON).read()
    assert found == replace(ALL, traits=None, share_in_use=None)
    assert 'not a response' in caplog.text


@pytest.mark.parametrize('ratios', [
    None, {'inventories': {'VCPU': {'allocation_ratio': 0}}}])
def test_the_share_in_use_is_unknown_without_allocation_ratios(ratios):
    found, _ = read(
        {**ANSWERS, '/resource_providers/h1/inventories': ratios})
    assert found == replace(ALL, share_in_use=None)


def test_a_disabled_host_is_not_capacity():
    down = {**PAGES[1][0], 'status': 'disabled', 'state': 'up'}
    found, seen = read({
        **ANSWERS, '/os-hypervisors/detail?limit=1000&marker=h1':
        {'hypervisors': [down]}})
    # 9 of 16 VCPU are in use.
    assert (found.share_in_use, found.largest) == (9 / 16, ALL.largest)
    assert '/resource_providers/h2/inventories' not in seen


def test_allocation_ratios_of_few_hosts_are_read():
    hosts = [{**PAGES[0][0], 'id': f'h{number}'} for number in range(100)]
    found, seen = read({
        **ANSWERS, '/os-hypervisors/detail?limit=1000': {'hypervisors': hosts},
        **{f'/resource_providers/{host["id"]}/inventories':
           {'inventories': RATIOS} for host in hosts}})
    assert found.share_in_use == 9 / 16
    assert sorted(path for path in seen if path.endswith('/inventories')) == [
        f'/resource_providers/h{number}/inventories'
        for number in (0, 20, 40, 60, 80)]


def test_a_class_that_is_not_read_excludes_nothing():
    assert exclusion({'name': 'g', 'members': [member('web', 9)]}, ALL)
    special = {'name': 'web', 'resources': {'VCPU': 8, 'CUSTOM_X': 1}}
    assert not exclusion({'name': 'g', 'members': [special]}, ALL)


class Known:
    """Cached facts of one child. The test counts the reads and decides when
    they end."""

    def __init__(self, written=None):
        self.time, self.begun, self.next = Time(), [], ALL
        self.facts = KnownFacts(
            [ChildEntry('dfw', facts=written)],
            {'dfw': lambda: self.next}, 100.0, self.time.now,
            self.begun.append)

    def get(self):
        return self.facts.all().get('dfw')


def test_facts_are_read_again_after_half_of_their_time():
    known = Known()
    assert known.get() is None
    assert known.get() is None
    assert len(known.begun) == 1
    known.begun[0]()
    assert known.get() == ALL
    known.time.sleep(49)
    assert known.get() == ALL
    assert len(known.begun) == 1
    known.time.sleep(2)
    # The caller does not wait for the new facts.
    assert known.get() == ALL
    assert len(known.begun) == 2


def test_old_facts_are_not_used():
    written = Facts(zones=frozenset({'old'}))
    known = Known(written)
    assert known.get() == written
    known.begun[0]()
    assert known.get().zones == {'az1'}
    known.time.sleep(101)
    assert known.get() == written


def test_a_child_that_has_filled_up_is_used_last():
    known = Known(Facts(share_in_use=0.1))
    home, other = (Candidate(SimpleNamespace(name=name), order)
                   for order, name in enumerate(('dfw', 'other')))

    def first():
        return [each.name for each in tiers(
            [home, other], 0.7,
            lambda each: known.facts.all().get(each.name, Facts()))[0]]
    assert first() == ['dfw']
    known.begun[0]()
    assert first() == ['other']


def test_what_is_not_read_is_what_the_operator_wrote():
    known = Known(Facts(
        traits=frozenset({'T'}), share_in_use=0.5,
        largest=FrozenMapping({'VCPU': 2, 'CUSTOM_X': 3})))
    known.next = Facts(
        zones=frozenset({'az1'}), largest=FrozenMapping({'VCPU': 8}),
        all_classes=False, read_at=NOON - timedelta(seconds=5))
    known.get()
    known.begun[0]()
    found = known.get()
    assert (found.zones, found.traits, found.share_in_use, found.read_at) == (
        {'az1'}, {'T'}, 0.5, NOON - timedelta(seconds=5))
    assert (dict(found.largest), found.all_classes) == (
        {'VCPU': 8, 'CUSTOM_X': 3}, True)
