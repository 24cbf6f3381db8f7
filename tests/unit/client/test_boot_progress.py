# SPDX-License-Identifier: Apache-2.0
"""The progress of a boot on the terminal."""

import io

import pytest

from nova_holistic.client.osc import boot_progress


def show(monkeypatch, stream, name='shop'):
    monkeypatch.setattr('sys.stderr', stream)
    with boot_progress.shown(name) as progress:
        report = progress.begin(2)
        for member, state in (('a', 'creating'), ('b', 'creating'),
                              ('a', 'building'), ('a', 'active'),
                              ('b', 'failed')):
            report(member, state)
    return stream.getvalue()


class Terminal(io.StringIO):
    """A terminal that records what is written on it."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setenv('COLUMNS', '120')
    monkeypatch.delenv('NO_COLOR', raising=False)
    return Terminal()


def test_a_terminal_shows_a_bar(monkeypatch, terminal):
    shown = show(monkeypatch, terminal)
    assert '1 failed' in shown and '1/2' in shown
    assert 'shop: a: active' not in shown


@pytest.mark.parametrize('name, expected', [
    ('[/red] shop', '[/red] shop: 1 failed'), ('a\x1b[2Jb', 'a\ufffd[2Jb')])
def test_the_name_of_a_group_is_shown_literally(
        monkeypatch, terminal, name, expected):
    assert expected in show(monkeypatch, terminal, name)
    assert expected.split(':')[0] in show(monkeypatch, io.StringIO(), name)


def test_without_a_terminal_each_server_has_a_line(monkeypatch):
    assert show(monkeypatch, io.StringIO()) == (
        'shop: a: active (1 of 2 active)\nshop: b: failed (1 of 2 active)\n')
