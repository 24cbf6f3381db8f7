# SPDX-License-Identifier: Apache-2.0
"""A Heat template is planned, checked and split into two documents."""

import json
import pathlib

import pytest
import yaml

SHOP = pathlib.Path(__file__).parents[2] / 'data' / 'shop-hot.yaml'
FLAVORS = '''
flavors:
  m1.small: {VCPU: 2, MEMORY_MB: 4096, DISK_GB: 20}
  m1.large: {VCPU: 8, MEMORY_MB: 65536, DISK_GB: 200}
'''


@pytest.fixture
def cloud(terminal, zones):
    """Two zones, and flavors by name."""
    return terminal.file('cloud.yaml', zones.read_text() + FLAVORS)


def planned(terminal, source, cloud, *words):
    """Return the location of each member. The last name is the host."""
    assert terminal.run('plan', source, '--inventory', cloud, '--format',
                        'json', *words) == 0
    return {p['member']: (*p['location'], p['host'])
            for p in json.loads(terminal.out)['placements']}


def test_a_template_is_planned_by_its_policies(terminal, cloud):
    at = planned(terminal, SHOP, cloud)
    web = [at[f'shop/front/web-{n}'] for n in range(3)]
    db = [at['shop/db/primary'], at['shop/db/replicas-0'],
          at['shop/db/replicas-1']]
    assert set(at.values()) == {
        *web, *db, at['gateways/gateway_a'], at['gateways/gateway_b']}
    assert len({location[0] for location in web + db}) == 1
    assert len(set(web)) == 3
    assert len({location[1] for location in db}) == 3
    # The first host of each rack has the trait.
    assert at['shop/db/primary'][2].endswith('h1')
    assert at['shop/db/primary'] not in web


def test_parameters_change_the_plan(terminal, cloud):
    at = planned(terminal, SHOP, cloud, '--parameter', 'web_count=5')
    assert len([path for path in at if '/web-' in path]) == 5
    # No host has memory for two large servers.
    at = planned(terminal, SHOP, cloud, '--parameter', 'size=large',
                 '--parameter', 'web_count=2')
    large = [host for path, host in at.items() if 'gateway' not in path]
    assert len(set(large)) == len(large) == 5


def test_a_plan_of_a_template_is_checked_against_it(terminal, cloud):
    terminal.run('plan', SHOP, '--inventory', cloud, '--format', 'json')
    plan = terminal.file('plan.json', terminal.out)
    assert terminal.run('check', SHOP, '--inventory', cloud,
                        '--plan', plan) == 0
    assert terminal.run('check', SHOP, '--inventory', cloud, '--plan', plan,
                        '--parameter', 'web_count=4') == 1
    assert [line for line in terminal.out.splitlines()
            if line.startswith('shop/front/web-3: ')]


def test_a_plan_of_a_template_is_drawn(terminal, cloud):
    terminal.run('plan', SHOP, '--inventory', cloud, '--format', 'json')
    plan = terminal.file('plan.json', terminal.out)
    assert terminal.run('map', plan, '--inventory', cloud, '--group', SHOP,
                        '-o', 'shop.svg') == 0
    assert 'shop/db/primary' in pathlib.Path('shop.svg').read_text()


def test_the_group_document_is_planned_like_the_template(terminal, cloud):
    assert terminal.run('template', SHOP, '-o', 'out/shop') == 0
    assert terminal.out.splitlines() == [
        'out/shop/shop-hot-group.yaml', 'out/shop/shop-hot-template.yaml']
    group, _ = terminal.out.splitlines()
    assert planned(terminal, group, cloud) == planned(terminal, SHOP, cloud)


def test_a_file_in_place_of_the_folder_is_an_error(terminal):
    terminal.file('out', '')
    assert terminal.run('template', SHOP, '-o', 'out') == 2
    assert terminal.err == 'nova-holistic: out: Not a directory\n'


def test_the_plain_template_is_a_template_without_groups(terminal):
    assert terminal.run('template', SHOP) == 0
    plain = yaml.safe_load(
        pathlib.Path('shop-hot-template.yaml').read_text())
    source = yaml.safe_load(SHOP.read_text())
    assert sorted(plain) == sorted(set(source) - {'groups'})
    assert sorted(plain['resources']) == sorted(source['resources'])
    assert plain['resources']['primary']['properties']['user_data'] == \
        source['resources']['primary']['properties']['user_data']


def test_a_template_is_read_from_standard_input(terminal, monkeypatch):
    with SHOP.open() as piped:
        monkeypatch.setattr('sys.stdin', piped)
        assert terminal.run('template', '-') == 0
    assert terminal.out.splitlines() == ['stack-group.yaml',
                                         'stack-template.yaml']


@pytest.mark.parametrize('data', ['a\x85b', 'a\n\x85b\n', 'a\u2028b\u2029'])
def test_unusual_line_breaks_of_texts_remain(terminal, data):
    source = terminal.file('stack.json', json.dumps({
        'heat_template_version': '2018-08-31',
        'resources': {'a': {'type': 'OS::Nova::Server', 'properties': {
            'flavor': 'm1.small', 'user_data': data}}}}))
    assert terminal.run('template', source, '-o', 'out') == 0
    written = yaml.safe_load(
        (terminal.folder / 'out/stack-template.yaml').read_bytes())
    assert written['resources']['a']['properties']['user_data'] == data


def test_the_template_file_is_never_overwritten(terminal):
    source = terminal.file('a-group.yaml', SHOP.read_text())
    linked = terminal.folder / 'a.yaml'
    linked.symlink_to(source)
    assert terminal.run('template', linked) == 2
    assert terminal.err == (
        'nova-holistic: a-group.yaml: this is the template that was read\n')
    assert source.read_text() == SHOP.read_text()


@pytest.mark.parametrize('words, message', [
    (('--parameter', 'size=huge'),
     "parameters.size: the value 'huge' given for it in an environment or on "
     "the command line must be one of "
     "'small', 'large'"),
    (('--parameter', 'sise=large'),
     "parameters: the template has no parameter 'sise' (did you mean "
     "'size'?); it has "
     "'database', 'image', 'size', 'web_count'"),
    (('--parameter', 'web_count=many'),
     "parameters.web_count: the value 'many' given for it in an environment "
     "or on the command line is not of type number"),
    (('--parameter', 'database={"flavor": "m9.giant"}'),
     "resources.primary.properties.flavor: unknown flavor 'm9.giant'"),
])
def test_a_wrong_parameter_is_reported(terminal, cloud, words, message):
    assert terminal.run('plan', SHOP, '--inventory', cloud, *words) == 2
    assert terminal.out == ''
    assert terminal.err.splitlines()[0].startswith(
        f'nova-holistic: {SHOP}: {message} (line ')


@pytest.mark.parametrize('words', [
    ('size',), ('=large',), ('size=small', '--parameter', 'size=large')])
def test_a_malformed_or_repeated_parameter_is_refused(
        terminal, cloud, words):
    assert terminal.run('plan', SHOP, '--inventory', cloud, '--parameter',
                        *words) == 2
    assert '--parameter' in terminal.err.splitlines()[-1]


def test_an_unsupported_function_is_reported_at_its_position(terminal, cloud):
    source = terminal.file('changed.yaml', SHOP.read_text().replace(
        '{list_join: [., [m1, {get_param: size}]]}',
        '{get_attr: [primary, flavor]}'))
    for words in (('plan', source, '--inventory', cloud),
                  ('template', source)):
        assert terminal.run(*words) == 2
        assert terminal.err == (
            f'nova-holistic: {source}: resources.web.properties.resource_def.'
            'properties.flavor: function get_attr is not supported where a '
            'plan needs the value (line 57, column 11)\n')
    assert not list(terminal.folder.glob('*-template.yaml'))


def test_all_mistakes_are_reported_with_their_positions(terminal):
    source = terminal.file('wrong.yaml', """\
heat_template_version: 2021-04-16
parameters:
  flavor: {type: string, default: m1.small}
resources:
  web:
    type: OS::Nova::Server
    properties:
      flavor: {get_param: flavour}
      scheduler_hints: {holistic_member: web}
groups:
  front:
    members: [webb]
    policies:
    - {type: anti-afinity}
""")
    assert terminal.run('template', source) == 2
    assert terminal.out == ''
    assert [line.removeprefix(f'nova-holistic: {source}: ')
            for line in terminal.err.splitlines()] == [
        "resources.web.properties.flavor.get_param: no parameter 'flavour' "
        "(did you mean 'flavor'?) (line 8, column 16)",
        'resources.web.properties.scheduler_hints.holistic_member: is reserved'
        ' for the pointer to the member, which nova-holistic adds (line 9, '
        'column 25)',
        "groups.front.members[0]: no resource 'webb' (did you mean 'web'?) "
        '(line 12, column 15)',
        "groups.front.policies[0].type: policy type 'anti-afinity' is not "
        "supported (did you mean 'anti-affinity'?); known are affinity, "
        'aggregates, anti-affinity, availability_zone, exclusive, location, '
        'soft-affinity, soft-anti-affinity, spread, traits (line 14, column '
        '8)']
    assert not list(terminal.folder.glob('*-template.yaml'))


def test_only_templates_have_parameters_and_can_be_split(
        terminal, shop, zones):
    assert terminal.run('plan', shop, '--inventory', zones,
                        '--parameter', 'a=b') == 2
    assert 'heat_template_version' in terminal.err
    assert terminal.run('template', shop) == 2
    assert 'heat_template_version' in terminal.err
