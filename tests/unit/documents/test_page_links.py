# SPDX-License-Identifier: Apache-2.0
"""The next page of a list begins where the link of the response states."""

import pytest

from nova_holistic.documents.page_links import place_of_next_page

URL = 'http://controller:8787/v1/groups'


@pytest.mark.parametrize('query, place', [
    ('limit=2&marker=a&position=b-_&name=x', {'marker': 'a',
                                              'position': 'b-_'}),
    # An earlier version of the API states no position.
    ('limit=2&marker=a', {'marker': 'a'}), ('', {})])
def test_the_place_is_read_from_the_link(query, place):
    links = [{'rel': 'self', 'href': URL},
             {'rel': 'next', 'href': f'{URL}?{query}'}]
    assert place_of_next_page(links) == place


@pytest.mark.parametrize('links', [
    None, [], {}, [5], [{}], [{'rel': 'self', 'href': f'{URL}?marker=a'}],
    [{'rel': 'next'}], [{'rel': 'next', 'href': 5}],
    [{'rel': 'next', 'href': 'http://[?marker=a'}]])
def test_links_without_a_place_are_ignored(links):
    assert place_of_next_page(links) == {}
