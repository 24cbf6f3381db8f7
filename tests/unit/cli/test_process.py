# SPDX-License-Identifier: Apache-2.0
"""Behaviour that only a separate process can show."""

import json
import os
import signal
import subprocess
import sys

MAIN = (sys.executable, '-m', 'nova_holistic.cli.main')


def run(*words, **how):
    how.setdefault('stdout', subprocess.PIPE)
    return subprocess.run([*MAIN, *map(str, words)], timeout=300,
                          stderr=subprocess.PIPE, **how)


def test_a_plan_goes_through_a_pipe_into_check(shop, zones):
    made = run('plan', shop, '--inventory', zones, '--format', 'json')
    assert (made.returncode, made.stderr) == (0, b'')
    checked = run('check', shop, '--inventory', zones, '--plan', '-',
                  input=made.stdout)
    assert checked.returncode == 0
    assert checked.stderr == b''


def test_a_closed_pipe_ends_plan_without_a_message(shop, zones):
    read, write = os.pipe()
    os.close(read)
    try:
        done = run('plan', shop, '--inventory', zones, stdout=write)
    finally:
        os.close(write)
    assert done.returncode == 141
    assert done.stderr == b''


def test_a_full_disk_is_reported(shop, zones):
    with open('/dev/full', 'wb') as full:
        done = run('plan', shop, '--inventory', zones, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b'nova-holistic: output: No space left on device\n'


def test_an_interrupt_ends_plan_without_a_traceback(zones):
    process = subprocess.Popen(
        [*MAIN, 'plan', '-', '--inventory', str(zones)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    # The command waits for a group whose text never ends. It reads more than a
    # pipe holds only while it works, so it is interrupted during its work.
    process.stdin.write(b'#' * 2**20)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, b'', b'')


def test_an_output_without_unicode_still_shows_every_name(tmp_path, zones):
    group = tmp_path / 'group.json'
    group.write_text(json.dumps({
        'name': 'bücher',
        'members': [{'name': 'a', 'resources': {'VCPU': 1}}]}))
    done = run('plan', group, '--inventory', zones,
               env={**os.environ, 'PYTHONIOENCODING': 'ascii'})
    assert (done.returncode, done.stderr) == (0, b'')
    assert done.stdout.startswith(b'b\\xfccher: 1 member on')


def test_png_without_its_extra_names_the_package_to_install(
        terminal, zones, shop_plan):
    without = ('import sys; sys.modules["resvg_py"] = None; '
               'from nova_holistic.cli.main import main; sys.exit(main())')
    output = terminal.folder / 'shop.png'
    done = subprocess.run(
        [sys.executable, '-c', without, 'map', shop_plan, '--inventory',
         zones, '-o', output], capture_output=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr == (b"nova-holistic: PNG needs the extra 'png': "
                           b"pip install 'nova_holistic[png]'\n")
    assert not output.exists()


def test_help_lists_the_commands():
    done = run('--help')
    assert (done.returncode, done.stderr) == (0, b'')
    commands = [line.split()[0] for line in done.stdout.decode().splitlines()
                if line.startswith('  ')]
    assert {'plan', 'check', 'map', 'demo'} <= set(commands)


def test_help_of_a_command_names_its_options():
    done = run('plan', '--help')
    assert done.returncode == 0
    for option in (b'--inventory', b'--objective', b'--solver',
                   b'--time-limit', b'--format'):
        assert option in done.stdout
