# SPDX-License-Identifier: Apache-2.0
"""For any document, plan and check end with one of their exit codes and at
most one line of error, but never a traceback.

The tests change a few values, keys or characters of valid random documents.
"""

import contextlib
import copy
import io
import json
import sys
import unittest.mock

from hypothesis import given, strategies as st
import pytest
import yaml

from nova_holistic.cli.main import main
from tests.effort import examples
from tests.unit.solver.strategies import random_case

LEVELS = ('az', 'rack', 'host', 'feed', 'isle')
JUNK = (
    None, True, -1, 0, 1, 2, 3, 0.5, 2**31, 2**63, 10**60, 10**400, 1e308,
    float('nan'), '', ' ', 'a', 'a' * 300, '/', 'a//b', '..', '\x00', '\n',
    '\ud800', '%', '50%', '0%', '\u221e', '1e9', '0x1f', 'null', '[red]',
    'web', 'web-0', 'part0', 'h0', 'az1/r1', *LEVELS, [], {}, [[]], ['web'],
    {'type': 'spread'}, {'name': 'a'}, {'total': 1}, ['h0', 'h0'])
LETTERS = '{}[],:&*!|>\'"%@`#?-\t\n\x00\ud800\u2028 a0'
CHANCE = st.randoms(use_true_random=False)


class Folder:
    """A folder with documents, in which commands run."""

    def __init__(self, folder):
        self.folder = folder
        self.out = self.err = ''

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode('utf-8', 'surrogatepass'))
        return str(path)

    def run(self, *words):
        """Run a command; returns its exit code, which must be one of the
        documented ones."""
        streams = [io.TextIOWrapper(io.BytesIO(), 'utf-8') for _ in range(2)]
        with contextlib.ExitStack() as stack:
            for name, stream in zip(('stdout', 'stderr'), streams):
                stack.enter_context(
                    unittest.mock.patch.object(sys, name, stream))
            code = main(list(words))
        for stream in streams:
            stream.flush()
        self.out, self.err = (
            stream.buffer.getvalue().decode() for stream in streams)
        assert code in (0, 1, 2, 3), self.err
        assert 'Traceback' not in self.err
        if code == 2:
            assert self.out == ''
            lines = self.err.splitlines()
            # At most 100 mistakes of a document are reported.
            assert 0 < len(lines) <= 100
            assert all(line.startswith('nova-holistic: ') for line in lines)
            assert self.err.startswith(f'nova-holistic: {self.folder}')
            assert max(map(len, lines)) < 1000
        else:
            assert self.err == ''
        return code


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return Folder(tmp_path_factory.mktemp('fuzz'))


def spoil(chance, document):
    """Replace one value or key of the document."""
    spots = [(document, key) for key in document] if isinstance(
        document, dict) else []
    for holder, key in spots:
        value = holder[key]
        if isinstance(value, dict):
            spots += [(value, k) for k in value]
        elif isinstance(value, list):
            spots += [(value, k) for k in range(len(value))]
    holder, key = chance.choice(spots)
    how = chance.randrange(6)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[chance.choice(('weight', 'count', 'level', 'x', '', 'group'))
               ] = copy.deepcopy(holder[key])
    elif how == 1:
        holder.insert(key, copy.deepcopy(holder[key]))
    elif how == 2:
        # Use a value from another part of the document.
        other, place = chance.choice(spots)
        holder[key] = copy.deepcopy(other[place])
    elif how == 3:
        for _ in range(chance.choice((1, 20, 80))):
            holder[key] = [holder[key]] if chance.random() < 0.5 else {
                'groups': [holder[key]]}
    else:
        holder[key] = copy.deepcopy(chance.choice(JUNK))


def written(chance, document):
    """The document as text with a few changes."""
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        if document:
            spoil(chance, document)
    if chance.random() < 0.7:
        text = json.dumps(document, ensure_ascii=chance.random() < 0.5)
    else:
        text = yaml.safe_dump(document, allow_unicode=True,
                              default_flow_style=chance.random() < 0.5)
    for _ in range(chance.choice((0, 0, 0, 0, 1, 5))):
        at = chance.randrange(len(text) + 1)
        text = (text[:at] + chance.choice(LETTERS)
                + text[at + chance.choice((0, 1)):])
    return text


@examples(160)
@given(CHANCE)
def test_corrupted_groups_and_inventories_cause_no_traceback(folder, chance):
    case = random_case(chance, 3, 4)
    group, inventory = (
        folder.write(name, written(chance, document) if chance.random() < how
                     else json.dumps(document))
        for name, document, how in (('group', case.group, 0.7),
                                    ('inventory', case.inventory, 0.5)))
    code = folder.run(
        'plan', group, '--inventory', inventory, '--time-limit', '5',
        '--format', chance.choice(('json', 'json', 'table', 'yaml')),
        '--objective', chance.choice(('spread', 'network', 'fewest-hosts')))
    if code == 0 and folder.out.startswith('{'):
        plan = folder.write('plan', folder.out)
        assert folder.run('check', group, '--inventory', inventory,
                          '--plan', plan) == 0


@examples(80)
@given(CHANCE)
def test_corrupted_plans_cause_no_traceback(folder, chance):
    case = random_case(chance, 3, 4)
    group, inventory = (
        folder.write(name, json.dumps(document)) for name, document in (
            ('group', case.group), ('inventory', case.inventory)))
    folder.run('plan', group, '--inventory', inventory, '--format', 'json')
    plan = folder.write('plan', written(chance, json.loads(folder.out)))
    folder.run('check', group, '--inventory', inventory, '--plan', plan)
