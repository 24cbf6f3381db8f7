# SPDX-License-Identifier: Apache-2.0
"""A stub of DevStack: functions with DevStack's names, which record their
calls and do almost nothing else.

The names are those that DevStack defines, from ``names.json``. A plugin that
calls another function, or reads an unset variable, fails immediately.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PLUGIN = pathlib.Path(__file__).parents[3] / 'devstack'
NAMES = json.loads(pathlib.Path(__file__).with_name('names.json').read_text())
STACK = (('stack', 'pre-install'), ('stack', 'install'),
         ('stack', 'post-config'), ('stack', 'extra'),
         ('stack', 'test-config'))
PHASES = {'stack.sh': STACK, 'unstack.sh': (('unstack',),),
          'clean.sh': (('clean',),)}

VARIABLES = {
    'ENABLED_SERVICES': 'key,mysql,rabbit,placement-api,n-api,n-sch,n-cpu',
    'DISABLED_SERVICES': '',
    'VIRT_DRIVER': 'fake', 'NUMBER_FAKE_NOVA_COMPUTE': '3',
    'SERVICE_PROTOCOL': 'http', 'SERVICE_HOST': '192.0.2.1',
    'SERVICE_TIMEOUT': '60', 'REGION_NAME': 'RegionOne',
    'DATABASE_TYPE': 'mysql', 'DATABASE_USER': 'root',
    'DATABASE_PASSWORD': 'secret', 'MYSQL_HOST': '192.0.2.1',
    'STACK_USER': 'stack', 'ENABLE_DEBUG_LOG_LEVEL': 'True',
    'SSL_BUNDLE_FILE': '/opt/stack/data/ca-bundle.pem',
    'NOVA_CONF': '/etc/nova/nova.conf',
    'NOVA_FILTERS': 'ComputeFilter,ImagePropertiesFilter',
}
"""Variables that DevStack itself sets; the path of api-paste.ini is added."""

# Results of some functions. The functions that check whether a service is
# enabled know functions named is_SERVICE_enabled, as DevStack's do.
ANSWERS = {
    'get_python_exec_prefix': 'echo "$STUB_BIN"',
    'trueorfalse': 'local asked=${!2:-$1}; echo "$asked"',
    'database_connection_url': (
        'echo "mysql+pymysql://root@localhost/$1'
        '?charset=utf8&plugin=dbcounter"'
    ),
    'apache_site_config_for': 'echo "/etc/apache2/sites-available/$1.conf"',
    'enable_service': '[[ ,$DISABLED_SERVICES, == *",$1,"* ]] || '
                      'ENABLED_SERVICES+=",$1"',
    'wait_for_service': 'return "$STUB_WAIT"',
    'is_service_enabled': '''
        local service
        for service in "$@"; do
            [[ ,$ENABLED_SERVICES, == *",$service,"* ]] && return 0
            if declare -F "is_${service}_enabled" >/dev/null; then
                "is_${service}_enabled" && return 0
            fi
        done
        return 1''',
}
SILENT = ('is_service_enabled', 'get_python_exec_prefix')
"""Functions that are called too often to be recorded."""
PROGRAMS = ('sudo', 'openstack', 'uwsgi', 'mysql', 'nova-holistic-manage')
"""Programs that are recorded and do nothing."""
TOOLS = ('sed', 'seq', 'rm', 'grep', 'bash', 'env')
"""Programs that really run."""

_PROLOGUE = '''
set -euo pipefail
function record {{ printf '%q ' "$@" >&3; echo >&3; }}
function command_not_found_handle {{ record UNKNOWN "$1"; return 127; }}
declare -A GITDIR=([nova_holistic]={plugin}/..)
'''


@dataclass(frozen=True)
class Run:
    """The exit code and all calls in their order.

    :ivar bin_folder: folder of all programs
    """

    bin_folder: pathlib.Path
    code: int
    errors: str
    calls: tuple[tuple[str, ...], ...]

    def of(self, *words: str) -> list[tuple[str, ...]]:
        """The arguments of the calls that begin with these words, without the
        words."""
        return [call[len(words):] for call in self.calls
                if call[:len(words)] == words]

    def ini(self, path: str) -> dict[str, dict[str, tuple[str, ...]]]:
        """The options that were set in a file: section, option, values."""
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        for name in ('iniset', 'iniset_multiline'):
            for section, option, *values in self.of(name, path):
                found.setdefault(section, {})[option] = tuple(values)
        return found


def run(script: str, folder: pathlib.Path, paste_ini: pathlib.Path,
        **variables: str) -> Run:
    """Run all phases in which a script of DevStack calls the plugin.

    :param variables: variables of local.conf, or of DevStack itself
    """
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    bin_folder = _programs(folder)
    calls = folder / 'calls'
    text = '\n'.join((
        _PROLOGUE.format(plugin=shlex.quote(str(PLUGIN))),
        *(f'{name}={shlex.quote(value)}' for name, value in {
            **VARIABLES, 'NOVA_API_PASTE_INI': str(paste_ini),
            'STUB_WAIT': '0', **variables}.items()),
        *(_function(name) for name in functions(script)),
        f'source {PLUGIN}/override-defaults', f'source {PLUGIN}/settings',
        *(f'source {PLUGIN}/plugin.sh {" ".join(phase)}'
          for phase in PHASES[script]),
        'record RUNS_AFTER "$-" "$NOVA_SERVICE_REPORT_INTERVAL"'))
    program = folder / 'run.sh'
    program.write_text(text)
    done = subprocess.run(
        [bin_folder / 'bash', '-c', f'source {program} 3>>{calls}'],
        capture_output=True, text=True,
        env={'PATH': str(bin_folder), 'STUB_BIN': str(bin_folder),
             'HOSTNAME': 'devstack', 'CALLS': str(calls)})
    return Run(bin_folder, done.returncode, done.stderr, _read(calls))


def functions(script: str) -> Sequence[str]:
    return [*NAMES['functions']['all'], *NAMES['functions'][script]]


def _function(name: str) -> str:
    shown = '' if name in SILENT else f'record {name} "$@"; '
    return f'function {name} {{ {shown}{ANSWERS.get(name, ":")}\n}}'


def _programs(folder: pathlib.Path) -> pathlib.Path:
    bin_folder = folder / 'bin'
    bin_folder.mkdir()
    for name in TOOLS:
        (bin_folder / name).symlink_to(shutil.which(name))
    for name in PROGRAMS:
        program = bin_folder / name
        program.write_text(
            f'#!{sys.executable}\n'
            'import os, shlex, sys\n'
            'with open(os.environ["CALLS"], "a") as calls:\n'
            f'    print(shlex.join([{name!r}, *sys.argv[1:]]), file=calls)\n')
        program.chmod(0o755)
    return bin_folder


def _read(calls: pathlib.Path) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(shlex.split(line))
                 for line in calls.read_text().splitlines())
