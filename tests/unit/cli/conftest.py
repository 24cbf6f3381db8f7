# SPDX-License-Identifier: Apache-2.0

import pathlib
import signal

from nova_holistic.cli.main import main
import pytest

from tests.unit.program_forks import Programs

_DATA = pathlib.Path(__file__).parents[2] / 'data'


class Terminal:
    """A folder in which commands run, and their output."""

    def __init__(self, folder, capsys):
        self.folder = folder
        self._capsys = capsys
        self.out = self.err = ''

    def run(self, *words):
        """Run a command; returns its exit code."""
        code = main([str(word) for word in words])
        self.out, self.err = self._capsys.readouterr()
        return code

    def file(self, name, content):
        """Create a file; returns its path."""
        path = self.folder / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path


@pytest.fixture
def terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Terminal(tmp_path, capsys)


@pytest.fixture
def zones():
    """Two zones of three racks of two hosts."""
    return _DATA / 'two-zones.yaml'


@pytest.fixture
def shop():
    """Twelve servers in three groups, which fit into one zone."""
    return _DATA / 'shop-cut-down.yaml'


@pytest.fixture
def whole_shop():
    """The shop of the manual, which needs more hosts than one zone has."""
    return _DATA / 'shop.yaml'


@pytest.fixture
def shop_plan(terminal, shop, zones):
    """The file of a valid plan of the shop."""
    assert terminal.run('plan', shop, '--inventory', zones,
                        '--format', 'json') == 0
    return terminal.file('plan.json', terminal.out)


@pytest.fixture(autouse=True, scope='session')
def enabled_interrupts():
    """A shell makes background commands ignore interrupts, and commands
    started from them would inherit this setting."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope='session')
def programs():
    """Runs the programs of engines and operators, with their imports shared.
    """
    with Programs('engine', 'manage', 'status') as programs:
        yield programs
