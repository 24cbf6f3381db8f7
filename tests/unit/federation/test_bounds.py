# SPDX-License-Identifier: Apache-2.0
"""The bound of a parent's offer. A parent above it uses the bound to end its
search."""

from dataclasses import replace

import pytest

from nova_holistic.federation.child import Offer
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.federation.offers.strategy import Strategy
from nova_holistic.federation.results import Offered
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import MEMBER
from tests.unit.federation.clouds import Federation, Lost, member, small
from tests.unit.federation.http_servers import http_child, serving
from tests.unit.federation.parent import Parent

SHOP = {'name': 'shop', 'members': [member('node', 4, count=3)]}
APART = {**SHOP, 'policies': [{'type': 'spread', 'level': 'cloud',
                               'min_domains': 2, 'weight': 1}]}
SOFT = {**SHOP, 'policies': [{'type': 'affinity', 'weight': 1}]}


def three_clouds(**options):
    return Federation(ams=small('a1', 'a2'), bru=small('a1', 'a2', 'a3'),
                      cph=small('a1', vcpus=4), **options)


def least_value(federation):
    """Return the lowest objective value of the plans of all clouds."""
    offers = [child.cloud.plan(SHOP)
              for child in federation.children.values()]
    return min(each['objective']['value'] for each in offers
               if each['status'] == 'planned')


@pytest.mark.parametrize('threshold', [False, True])
def test_the_bound_of_an_offer_covers_every_cloud(threshold):
    """The third cloud has no capacity, and proves this."""
    federation = three_clouds(strategy=Strategy(threshold=threshold, batch=3))
    found = federation.offer(SHOP)
    assert isinstance(found, Offered)
    assert found.value == pytest.approx(least_value(federation))
    assert found.bound == pytest.approx(found.value, rel=1e-4)
    assert found.bound <= found.value


def test_a_cloud_with_a_weaker_bound_weakens_the_bound():
    federation = three_clouds()
    child = federation.children['ams']
    original = child.offer
    child.offer = lambda *args: replace(original(*args), bound=0.125)
    assert federation.offer(SHOP).bound == 0.125
    child.offer = lambda *args: replace(original(*args), bound=None)
    assert federation.offer(SHOP).bound is None


def test_a_bound_above_the_value_is_not_believed():
    federation = three_clouds()
    for child in federation.children.values():
        child.offer = lambda *args, asked=child.offer: (
            replace(found, bound=99.0)
            if isinstance(found := asked(*args), Offer) else found)
    found = federation.offer(SHOP)
    assert found.bound == found.value


def test_without_the_answer_of_a_cloud_no_bound_is_known():
    def lost(method, when):
        raise Lost
    federation = three_clouds()
    federation.children['cph'].fault = lost
    assert federation.offer(SHOP).bound is None


def test_facts_that_may_be_out_of_date_prove_no_bound():
    federation = three_clouds(
        strategy=Strategy(pruning=True),
        facts={'bru': Facts(largest={'VCPU': 1})})
    assert federation.offer(SHOP).bound is None


def test_a_group_that_may_be_in_several_clouds_has_no_bound():
    federation = three_clouds()
    found = federation.offer(APART)
    assert isinstance(found, Offered)
    assert found.bound is None


@pytest.fixture
def lower(tmp_path):
    """A parent of two clouds."""
    found = Parent(PlacementTable(new_table(tmp_path)),
                   {'ams': small('a1', 'a2'), 'dfw': small('b1')})
    yield found
    found.engines.stop()


@pytest.fixture
def lower_child(lower):
    """The parent of two clouds as a child of another parent."""
    with serving(lower.app, MEMBER.headers()) as url:
        yield http_child(url, seconds=20.0)


@pytest.mark.parametrize('document, perfect', [(SHOP, True), (APART, False)])
def test_an_offer_of_a_parent_is_perfect_if_its_bound_is_proved(
        lower_child, document, perfect):
    found = lower_child.offer(document, None, 20)
    assert isinstance(found, Offer), found
    assert (found.violations, found.perfect) == (0, perfect)


@pytest.mark.parametrize('proved, requests', [(True, 1), (False, 2)])
def test_the_threshold_search_continues_after_an_offer_without_a_bound(
        proved, requests):
    """One child satisfies the preference. If its offer has no bound, the
    search needs one more request, but the offer is still chosen."""
    federation = Federation(
        strategy=Strategy(threshold=True, batch=1), orders={'ams': 0},
        ams=small('a1'), bru=small('a1', 'a2', vcpus=8))
    child = federation.children['ams']
    original = child.offer
    child.offer = lambda *args: original(*args) if proved else replace(
        original(*args), bound=None, perfect=False)
    found = federation.offer(SOFT)
    assert [cloud for cloud, _ in found.parts] == ['ams']
    assert found.violations == 0
    assert federation.requests() == requests
