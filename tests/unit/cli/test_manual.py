# SPDX-License-Identifier: Apache-2.0
"""The commands of the manual work as shown."""

import json
import pathlib
import re
import shlex
import textwrap

import pytest
import yaml

from nova_holistic.cli import manage
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.policies import load_policy_types

MANUAL = pathlib.Path(__file__).parents[3]


def blocks(text):
    """The YAML blocks of a page, in their order."""
    return [textwrap.dedent(block) for block in re.findall(
        r'code-block:: yaml\n\n((?: +.*\n|\n)+)', text)]


def test_the_commands_of_the_readme_work(terminal, tmp_path):
    readme = (MANUAL / 'README.rst').read_text()
    for name, text in zip(('shop.yaml', 'cloud.yaml'), blocks(readme)):
        (tmp_path / name).write_text(text)
    commands = re.findall(r'^ +nova-holistic (\S.*)$', readme, re.MULTILINE)
    assert [command.split()[0] for command in commands] == [
        'plan', 'plan', 'check', 'map']
    for command in commands:
        words = shlex.split(command)
        output = None
        if '>' in words:
            *words, _, output = words
        assert terminal.run(*words) == 0, command
        if output:
            (tmp_path / output).write_text(terminal.out)
    assert (tmp_path / 'shop.html').stat().st_size > 0


def test_the_page_on_relaxations_shows_what_the_commands_print(
        terminal, tmp_path):
    text = (MANUAL / 'doc/source/user/relaxations.rst').read_text()
    for name, block in zip(('shop.yaml', 'cloud.yaml', 'pair.yaml'),
                           blocks(text)):
        (tmp_path / name).write_text(block)
    shown = [textwrap.dedent(block).rstrip() for block in re.findall(
        r'code-block:: console\n\n((?: +.*\n|\n)+)', text)
        if '$ nova-holistic' in block]
    assert len(shown) == 2
    for (command, *lines), code in zip(map(str.splitlines, shown), (1, 0)):
        words, only_last, _ = command.removeprefix(
            '$ nova-holistic ').partition(' | tail -n 1')
        assert terminal.run(*shlex.split(words)) == code
        printed = terminal.out.splitlines()
        assert printed[-1 if only_last else 0:] == lines


@pytest.mark.parametrize('flavor, code', [('m1.small', 0), ('m1.none', 2)])
def test_the_manuals_inventory_is_accepted(terminal, tmp_path, flavor, code):
    (inventory,) = blocks((MANUAL / 'doc/source/user'
                           / 'inventory-documents.rst').read_text())
    (tmp_path / 'cloud.yaml').write_text(inventory)
    (tmp_path / 'one.yaml').write_text(
        f'name: one\nmembers: [{{name: a, flavor: {flavor}}}]\n')
    assert terminal.run('plan', tmp_path / 'one.yaml', '--inventory',
                        tmp_path / 'cloud.yaml') == code


def test_the_shipped_examples_fit(terminal, monkeypatch):
    text = (MANUAL / 'doc/source/user/group-documents.rst').read_text()
    (command,) = re.findall(r'^ +nova-holistic (plan .*)$', text,
                            re.MULTILINE)
    monkeypatch.chdir(MANUAL)
    assert terminal.run(*shlex.split(command)) == 0


@pytest.fixture(scope='module')
def pointers_page():
    """The text of the page, and the paths of the members of its group."""
    text = (MANUAL / 'doc/source/howto/terraform-ansible-sdk.rst').read_text()
    (document,) = re.findall(
        r'plan-picture:: .*\n   :alt: .*\n\n((?: +.*\n|\n)+)', text)
    group = parse_group(yaml.safe_load(textwrap.dedent(document)),
                        load_policy_types())
    return text, {member.path for member in group.all_members()}


@pytest.mark.parametrize('tool, index', [
    ('terraform', '${count.index}'), ('ansible', '{{ item }}')])
def test_a_tool_points_to_each_member_of_the_group(pointers_page, tool, index):
    text, paths = pointers_page
    member = {
        'terraform': re.search(r'holistic_member = "(.+)"', text)[1],
        'ansible': _ansible(text)['holistic_member']}[tool]
    assert {member.replace(index, str(number))
            for number in range(6)} == paths


def _ansible(text):
    """Return the scheduler hints of the playbook."""
    (play,), = [yaml.safe_load(block) for block in blocks(text)]
    create, servers, _ = play['tasks']
    assert create['ansible.builtin.command']['argv'][:4] == [
        'openstack', 'holistic', 'group', 'create']
    return servers['openstack.cloud.server']['scheduler_hints']


def test_the_page_of_manage_lists_each_command():
    page = (MANUAL / 'doc/source/cli/nova-holistic-manage.rst').read_text()
    listed = set(re.findall(
        r'^``([a-z]+(?: [a-z]+(?:-[a-z]+)?)?)(?: .*)?``$', page,
        re.MULTILINE))
    assert listed == {' '.join(words) for words in manage.COMMANDS}


def test_the_picture_of_the_readme_shows_the_example(terminal, monkeypatch):
    monkeypatch.chdir(MANUAL)
    readme = (MANUAL / 'README.rst').read_text()
    picture = (MANUAL / re.search(r'image:: (\S+)', readme)[1]).read_text()
    assert terminal.run('plan', 'examples/shop.yaml', '--inventory',
                        'examples/two-zones.yaml', '--format', 'json') == 0
    plan = json.loads(terminal.out)
    for each in plan['placements']:
        assert each['member'] in picture
