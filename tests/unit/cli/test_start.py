# SPDX-License-Identifier: Apache-2.0
"""The imports and the output of commands before they begin to work."""

import os
import subprocess
import sys

import pytest

from tests.tables import new_table

HEAVY = {'numpy', 'pulp', 'highspy', 'jsonschema', 'yaml', 'rich',
         'oslo_config', 'sqlalchemy'}

LIST_MODULES = """
import sys
from nova_holistic.cli.main import main
code = main(sys.argv[1:])
print(*sorted({name.partition('.')[0] for name in sys.modules}),
      file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize('words', [
    ['--help'], ['--version'], ['plan', '--help'], ['complete']], ids=str)
def test_the_help_imports_no_large_package(words):
    done = subprocess.run([sys.executable, '-c', LIST_MODULES, *words],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    assert HEAVY.isdisjoint(done.stderr.split())


RUN_MANAGE = """
import sys
from nova_holistic.cli import programs
code = programs.manage()
print(*sorted({name.partition('.')[0] for name in sys.modules}))
sys.exit(code)
"""


def managed(tmp_path, start, *words):
    """Run a command of nova-holistic-manage on a database."""
    file = tmp_path / 'nova-holistic.conf'
    file.write_text(
        f'[holistic_database]\nconnection = {new_table(tmp_path)}\n')
    return subprocess.run(
        [sys.executable, '-c', start + RUN_MANAGE, '--config-file', str(file),
         *words], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize('words, unused', [
    (('db', 'version'), ('pulp', 'highspy', 'oslo_messaging', 'eventlet')),
    (('refusal', 'list'), ('pulp', 'highspy', 'oslo_messaging', 'eventlet')),
    (('group', 'list'), ('pulp', 'highspy'))], ids=str)
def test_a_command_of_an_operator_imports_what_it_uses(
        tmp_path, words, unused):
    done = managed(tmp_path, '', *words)
    assert done.returncode == 0
    assert set(unused).isdisjoint(done.stdout.split())


def test_a_command_in_cron_prints_nothing_about_its_libraries(tmp_path):
    """cron sends each output as a mail."""
    done = managed(tmp_path, 'import warnings\n'
                   'warnings.simplefilter("ignore")\n', 'group', 'purge')
    assert (done.returncode, done.stderr) == (0, '')


def test_a_command_of_an_operator_names_the_extra_that_it_needs(tmp_path):
    done = managed(tmp_path, 'import sys\n'
                   'sys.modules["oslo_messaging"] = None\n', 'group', 'list')
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        "install it with: pip install 'nova_holistic[engine]'")


def test_the_help_lists_every_command():
    done = subprocess.run(
        [sys.executable, '-m', 'nova_holistic.cli.main', '--help'],
        capture_output=True, text=True, timeout=300)
    commands = done.stdout.partition('Commands:')[2].splitlines()[1:]
    assert [line.split()[0] for line in commands] == [
        'check', 'complete', 'demo', 'help', 'map', 'plan', 'template']


@pytest.mark.parametrize('program', ['manage', 'engine', 'status'])
def test_no_program_prints_warnings_of_other_packages(program):
    environment = {key: value for key, value in os.environ.items()
                   if key != 'PYTHONWARNINGS'}
    done = subprocess.run(
        [sys.executable, '-c', 'import sys; from nova_holistic.cli.'
         f'{program} import main; sys.exit(main(["--help"]))'],
        env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, '')


CONFIGURATION = """
[DEFAULT]
transport_url = fake:///
[nova]
auth_type = none
endpoint_override = http://127.0.0.1:1
[placement]
auth_type = none
endpoint_override = http://127.0.0.1:1
[holistic_database]
connection = {url}
"""


@pytest.fixture
def started(programs, tmp_path):
    """A function that runs a program with further options; it returns the
    exit code and the lines on standard error."""
    def started(program, options, *words):
        file = tmp_path / 'nova-holistic.conf'
        file.write_text(CONFIGURATION.format(
            url=new_table(tmp_path)) + options)
        done = programs.run(
            program, ['--config-file', file, *words], tmp_path)
        return done.returncode, done.stderr.splitlines()
    return started


@pytest.mark.parametrize(('option', 'message'), [
    ('[planner]\ntime_limit = ten', '[planner]: Value for option time_limit '),
    ('[reconciler]\nhost_percent = 101',
     '[reconciler]: Value for option host_percent '),
    ('[filter_scheduler]\nmax_instances_per_host = many',
     '[filter_scheduler]: Value for option max_instances_per_host '),
    ('[planner]\nobjective = cheapest',
     "unknown [planner] objective 'cheapest'; "),
    ('[planner]\nsolver = abacus', "unknown [planner] solver 'abacus'; "),
    ('[inventory]\ndriver = file', '[inventory] path is not set'),
])
def test_an_engine_does_not_start_with_an_invalid_option(
        started, option, message):
    code, lines = started('engine', option)
    assert code == 2
    assert lines[-1].startswith(f'nova-holistic-engine: {message}')
    assert not any(line.startswith('Traceback') for line in lines)


@pytest.mark.parametrize(('program', 'words'), [
    ('engine', ()), ('manage', ('db', 'version'))])
@pytest.mark.parametrize(('option', 'message'), [
    ('log_file = {}/nova-holistic.conf/engine.log',
     'the log file cannot be opened: {}/nova-holistic.conf/engine.log: Not a '
     'directory'),
    ('log_config_append = {}/none.conf',
     '[DEFAULT] log_config_append: Error loading logging config {}/none.conf'),
    ('default_log_levels = nova_holistic=LOUD',
     "[DEFAULT] default_log_levels: Unknown level: 'LOUD'"),
])
def test_a_log_that_cannot_be_written_is_named_in_one_line(
        started, tmp_path, program, words, option, message):
    code, (line,) = started(
        program, f'[DEFAULT]\n{option.format(tmp_path)}\n', *words)
    assert code == 2
    assert line.startswith(
        f'nova-holistic-{program}: {message.format(tmp_path)}')


def test_a_command_does_not_run_with_an_invalid_option(started):
    code, (line,) = started('manage', '[reconciler]\ngrace = long',
                            'group', 'list')
    assert code == 2
    assert line.startswith('nova-holistic-manage: [reconciler]: Value for '
                           'option grace ')


def test_completion_needs_only_bash(terminal):
    assert terminal.run('complete') == 0
    for words, expected in (
            (['pl'], ['plan']),
            (['plan', '--inv'], ['--inventory']),
            (['map', '--gr'], ['--group'])):
        script = (
            f'{terminal.out}\n'
            f'COMP_WORDS=(nova-holistic {" ".join(words)})\n'
            f'COMP_CWORD={len(words)}\n'
            '_nova_holistic\n'
            'printf "%s\\n" "${COMPREPLY[@]}"\n')
        done = subprocess.run(['bash', '--norc', '-c', script],
                              capture_output=True, text=True, timeout=300)
        assert (done.stderr, done.stdout.split()) == ('', expected)
