# SPDX-License-Identifier: Apache-2.0
"""The demo, as a new user runs it."""

import gc
import io
import re
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from rich.console import Console

from nova_holistic.cli import demo
from nova_holistic.embedded.demo import demo_run
from nova_holistic.embedded.demo.expectations import Expectations
from nova_holistic.embedded.demo import usage_accounts
from nova_holistic import exceptions

HOSTS = [f'cmp-{number:02}' for number in range(1, 25)]
# Eight web servers, two caches and three databases in one zone; four web
# servers and two databases in the other.
MEMBERS = 8 + 2 + 3 + 4 + 2
NEVER_CREATED = 2


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Run the demo in a process without a terminal."""
    folder = tmp_path_factory.mktemp('demo')
    done = nova_holistic('demo', '--output', str(folder))
    return done, folder


def nova_holistic(*arguments):
    program = 'import sys; from nova_holistic.cli.main import main; ' \
        'sys.exit(main())'
    return subprocess.run(
        [sys.executable, '-c', program, *arguments], capture_output=True,
        text=True, stdin=subprocess.DEVNULL)


def summary(text, line):
    """The figures of one line of the summary: two of stock Nova, and one of
    the joint plan."""
    row = re.search(rf'^ *{line}  +(.*)$', text.split(' Summary ')[1], re.M)
    return row.group(1).split()


def test_every_statement_of_the_demo_is_true(run):
    done, _ = run
    assert done.returncode == 0, done.stdout + done.stderr
    assert '✓' in done.stdout
    assert '✗' not in done.stdout


def test_the_demo_prints_no_errors_and_no_escape_codes(run):
    done, _ = run
    assert done.stderr == ''
    assert 'Traceback' not in done.stdout
    assert '\x1b' not in done.stdout


def test_stock_nova_fails_in_both_orders_and_the_plan_succeeds(run):
    text = run[0].stdout
    assert summary(text, 'requested servers') == [
        str(MEMBERS), str(MEMBERS), str(MEMBERS - NEVER_CREATED)]
    # In the listed order, all five databases and one of the two caches find no
    # host. If the largest servers come first, one cache cannot be near the
    # other one.
    assert summary(text, 'ERROR') == ['6', '1', '0']
    assert summary(text, 'ACTIVE') == [
        str(MEMBERS - 6), str(MEMBERS - 1), str(MEMBERS - NEVER_CREATED)]
    assert 'No valid host' in text


def test_built_servers_violate_no_policy(run):
    assert summary(run[0].stdout, 'policies violated') == ['0', '0', '0']


def test_placement_usage_returns_to_its_initial_state(run):
    text = run[0].stdout
    before = re.search(r'^ *the load  +(.*)$', text, re.M).group(1).split()
    after = re.search(r'^ *all deleted  +(.*)$', text, re.M).group(1).split()
    assert after == before


def test_the_svg_and_the_html_map_show_every_host(run):
    _, folder = run
    picture = ElementTree.parse(folder / 'nova-holistic-demo.svg').getroot()
    drawn = ' '.join(picture.itertext())
    assert [host for host in HOSTS if host not in drawn] == []
    page = (folder / 'nova-holistic-demo.html').read_text(encoding='utf-8')
    assert [host for host in HOSTS if host not in page] == []


def test_a_successful_demo_leaves_only_the_maps(run):
    _, folder = run
    assert sorted(path.name for path in folder.iterdir()) == [
        'nova-holistic-demo.html', 'nova-holistic-demo.svg']


def test_a_missing_output_folder_is_reported_in_one_line(tmp_path):
    done = nova_holistic('demo', '--output', str(tmp_path / 'nowhere'))
    assert done.returncode == 2
    assert done.stdout == ''
    assert done.stderr.splitlines() == [
        f'nova-holistic: --output {tmp_path}/nowhere: the folder does not '
        'exist']


def test_python_collects_garbage_rarely_during_the_demo(
        tmp_path, monkeypatch):
    thresholds = []
    monkeypatch.setattr(
        demo_run, 'run_demo',
        lambda console, folder: thresholds.append(gc.get_threshold()) or True)
    command = demo.Demo(SimpleNamespace(stdout=io.StringIO()), None)
    before = gc.get_threshold()
    gc.set_threshold(700, *before[1:])
    try:
        assert command.take_action(SimpleNamespace(output=tmp_path)) == 0
        assert gc.get_threshold()[0] == 700
    finally:
        gc.set_threshold(*before)
    assert [first for first, *_ in thresholds] == [demo.NEW_OBJECTS]


def test_a_missing_extra_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(demo, 'NEEDED', ('rich', 'not_installed_anywhere'))
    with pytest.raises(exceptions.HolisticError) as caught:
        demo.require_extra()
    assert 'not_installed_anywhere not installed' in str(caught.value)
    assert "nova_holistic[api,embedded,engine]" in str(caught.value)


def test_a_true_statement_does_not_hide_an_earlier_false_one():
    shown = io.StringIO()
    expectations = Expectations(Console(file=shown))
    expectations.expect('nothing is left', ['cmp-01: VCPU 2 is left'])
    expectations.expect('all is well')
    assert not expectations.all_true
    assert shown.getvalue().splitlines() == [
        '✗ nothing is left', '  cmp-01: VCPU 2 is left', '✓ all is well']


def test_differences_between_placement_and_servers_are_named():
    flavor = {'vcpus': 2, 'ram': 1024, 'disk': 0}
    servers = [{'OS-EXT-SRV-ATTR:host': 'cmp-01', 'flavor': flavor},
               {'OS-EXT-SRV-ATTR:host': None, 'flavor': flavor}]
    exact = {'cmp-01': {'VCPU': 2, 'MEMORY_MB': 1024}, 'cmp-02': {'VCPU': 0}}
    stray = {'cmp-01': {'VCPU': 2}, 'cmp-02': {'VCPU': 4}}
    expected = usage_accounts.of_servers(servers)
    assert usage_accounts.differences(exact, expected) == []
    assert usage_accounts.differences(stray, expected) == [
        'cmp-01: MEMORY_MB 0 in Placement, 1024 expected',
        'cmp-02: VCPU 4 in Placement, 0 expected']
