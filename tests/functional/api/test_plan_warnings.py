# SPDX-License-Identifier: Apache-2.0
"""A plan on uplinks without a known capacity has a warning."""

import pytest

from tests.functional.engine.world import SMALL

PAIR = {'name': 'pair', 'members': [
    {'name': name, 'resources': SMALL} for name in ('left', 'right')],
    'relationships': [
        {'type': kind, 'between': ['left', 'right'], 'level': 'rack', **keys}
        for kind, keys in (('anti-affinity', {}),
                           ('bandwidth', {'mbps': 100}))]}


@pytest.mark.parametrize('version, shown', [
    ('1.0', False), ('1.4', False), ('1.5', True)])
def test_a_plan_shows_its_warnings_from_version_1_5_on(
        service, version, shown):
    plan = service.ask(
        'POST', '/v1/plans?wait=60', {'group': PAIR}, headers={
            'OpenStack-API-Version': f'holistic {version}'}).json['plan']
    assert plan['status'] == 'planned'
    assert [each['message'] for each in plan.get('warnings', ())] == [
        'bandwidth between left and right is not limited in 2 of the 2 '
        'domains of level rack whose uplinks it uses: the inventory has no '
        'links for them'] * shown
