# SPDX-License-Identifier: Apache-2.0
"""An operator exports the inventory of the cloud, and plans on it."""

import json

import pytest
import yaml

from nova_holistic.cli import main

CLOUD = """
levels: [rack, host]
hosts:
  - {name: h1, location: [r1], resources: {VCPU: {total: 8, used: 3}}}
  - {name: h2, location: [r2], resources: {VCPU: {total: 8}},
     traits: [CUSTOM_SSD], enabled: false}
flavors:
  tiny: {VCPU: 1}
"""


@pytest.mark.parametrize('words, load', [
    ((), json.loads), (('--format', 'json'), json.loads),
    (('--format', 'yaml'), yaml.safe_load)])
def test_the_inventory_is_written_to_standard_output(run, words, load):
    code, output, complaint = run(
        'inventory', 'export', *words, inventory=CLOUD)
    assert (code, complaint) == (0, '')
    assert load(output) == yaml.safe_load(CLOUD) | {'hosts': [
        {'name': 'h1', 'location': ['r1'],
         'resources': {'VCPU': {'total': 8, 'used': 3}}},
        {'name': 'h2', 'location': ['r2'],
         'resources': {'VCPU': {'total': 8, 'used': 0}},
         'traits': ['CUSTOM_SSD'], 'enabled': False}]}


def test_a_group_is_planned_on_an_exported_inventory(run, tmp_path, capsys):
    _, output, _ = run('inventory', 'export', inventory=CLOUD)
    exported, group = tmp_path / 'exported.json', tmp_path / 'group.yaml'
    exported.write_text(output)
    group.write_text('name: g\nmembers: [{name: a, flavor: tiny, count: 5}]')
    assert main.main(['plan', str(group), '--inventory', str(exported),
                      '--format', 'json']) == 0
    plan = json.loads(capsys.readouterr().out)
    assert {each['host'] for each in plan['placements']} == {'h1'}
