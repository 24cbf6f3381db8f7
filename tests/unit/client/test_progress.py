# SPDX-License-Identifier: Apache-2.0
"""The progress on the terminal while a command waits."""

import io

import pytest

from nova_holistic.client.osc import progress


class Terminal(io.StringIO):
    """A terminal that records what is written on it."""

    def isatty(self):
        return True


@pytest.fixture
def written(monkeypatch):
    """Return a function that shows a document and returns the terminal's text.
    """
    def written(found, name='shop'):
        terminal = Terminal()
        monkeypatch.setattr('sys.stderr', terminal)
        with progress.bar(name) as show:
            show(found)
        return terminal.getvalue()

    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setenv('COLUMNS', '120')
    monkeypatch.delenv('NO_COLOR', raising=False)
    return written


def test_a_group_shows_how_many_holds_are_written(written):
    assert 'shop: planning, 200 of 1000 holds written' in written({
        'status': 'planning', 'task': 'planning', 'holds_written': 200,
        'members': {'planned': 1000}})


@pytest.mark.parametrize('found', [
    {'status': 'planning', 'task': None, 'holds_written': None,
     'members': {}},
    {'status': 'planning', 'holds_written': 0, 'members': {}},
    {'status': 'planning'}],
    ids=['no holds yet', 'no members yet', 'plan or older API'])
def test_otherwise_only_the_task_or_the_status_is_shown(written, found):
    out = written(found)
    assert 'shop: planning' in out
    assert 'holds' not in out


@pytest.mark.parametrize('name, expected', [
    ('[/red] shop', '[/red] shop: planning'),
    ('a\x1b[2Jb', 'a\ufffd[2Jb: planning')])
def test_the_name_of_a_group_is_shown_literally(written, name, expected):
    assert expected in written({'task': 'planning'}, name)
