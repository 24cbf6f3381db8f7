# SPDX-License-Identifier: Apache-2.0
"""The parents through which a request has come."""

import pytest

from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation import parent_path
from nova_holistic.federation.parent_path import HEADER, name_of
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import refusal
from tests.unit.federation.clouds import member, small
from tests.unit.federation.parent import Children, LATEST, Parent

GROUP = {'name': 'g', 'members': [member('a', 2)]}


def name(text, digits=16):
    return f'{text}:{"a" * digits}'


@pytest.fixture
def parent(tmp_path):
    found = Parent(PlacementTable(new_table(tmp_path)), {'ams': small('a1')})
    yield found
    found.engines.stop()


def sent(parent, header, method='POST', path='/v1/plans'):
    return parent.ask(method, path, {'group': GROUP} if method == 'POST'
                      else None, headers={**LATEST, HEADER: header})


@pytest.mark.parametrize('method, path', [
    ('POST', '/v1/plans'), ('POST', '/v1/groups'), ('GET', '/v1/groups')])
def test_a_request_that_has_passed_this_parent_is_refused(
        parent, method, path):
    answer = sent(parent, f'{Children.own_name},{name("eu")}', method, path)
    assert refusal(answer) == (
        400, 'holistic.parents_refused',
        'the parents form a cycle: europe -> eu -> europe')
    assert parent.clouds.held() == {}
    assert not any(child.calls for child in parent.clouds.children.values())


def test_requests_through_other_parents_are_accepted_up_to_nine_names(parent):
    names = [name(f'p{number}') for number in range(9)]
    assert sent(parent, ','.join(names[:8])).status_int == 202
    status, code, detail = refusal(sent(parent, ','.join(names)))
    assert (status, code) == (400, 'holistic.parents_refused')
    assert detail.startswith('a cloud has at most 9 parents above it: p0 -> ')


@pytest.mark.parametrize('header', [
    '', 'eu', name('eu') + ',', name('eu', 15), name(''), name('a b'),
    name('eu') + ' ', ','.join([name('eu')] * 10)])
def test_other_values_of_the_header_are_refused(parent, header):
    status, code, detail = refusal(sent(parent, header))
    assert (status, code) == (400, 'holistic.invalid_header')
    assert detail.startswith(HEADER)


def test_parents_with_one_id_and_other_children_have_different_names():
    ams, dfw = (ChildEntry(each, endpoint=f'http://{each}.example.org')
                for each in ('ams', 'dfw'))
    assert name_of('parent', [ams]) == name_of('parent', [ams])
    assert len({name_of('parent', [ams]), name_of('parent', [dfw]),
                name_of('europe', [ams])}) == 3
    assert parent_path.parse(parent_path.joined(
        [name_of('a', [ams])], name_of('b', [dfw]))) == (
            name_of('a', [ams]), name_of('b', [dfw]))
