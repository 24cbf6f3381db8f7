# SPDX-License-Identifier: Apache-2.0
"""The calls in the table package that send a statement, and their
statements."""

import ast
from collections import defaultdict
import contextlib
from dataclasses import dataclass
import functools
import pathlib
import sys

import sqlalchemy as sa

from nova_holistic import table as package
from tests.statements import Statement

ROOT = pathlib.Path(package.__file__).parent
SENDING = {'execute', 'scalars', 'scalar', 'get'}
"""Methods of a session or a connection that send a statement."""
CONNECTED = 'session', 'transaction', 'link'
"""Names of variables with a session, a transaction or a connection."""


@dataclass(frozen=True, order=True)
class CallSite:
    """One call in the source code.

    :ivar path: path of the file, relative to the package
    :ivar function: name of the function with the call
    :ivar first: line on which the call begins
    :ivar last: line on which it ends
    """

    path: str
    function: str
    first: int
    last: int

    @property
    def place(self):
        return f'{self.path} {self.function}'


@functools.cache
def call_sites():
    """The calls that send a statement, directly or through other functions.

    A call sends a statement if it is a method of a session, or if it passes a
    session, a database or ``self`` to a function that is known by its name to
    send a statement.
    """
    calls = dict(_calls())
    found = {key: site for key, (site, call) in calls.items()
             if _is_of_session(call)}
    while True:
        names = {_visible(site.path, site.function)
                 for site in found.values()}
        more = {key: site for key, (site, call) in calls.items()
                if key not in found and _passes_on(site.path, call, names)}
        if not more:
            return tuple(found.values())
        found.update(more)


def _calls():
    """All calls in functions of the package, without migrations."""
    for path in sorted(ROOT.rglob('*.py')):
        name = str(path.relative_to(ROOT))
        if name.startswith('migration'):
            continue
        # Outer functions precede the functions inside them.
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                if isinstance(call, ast.Call):
                    # The calls of a chain begin at the same position.
                    yield (name, call.lineno, call.col_offset,
                           call.end_lineno, call.end_col_offset), (CallSite(
                               name, function.name, call.lineno,
                               call.end_lineno), call)


def _is_of_session(call):
    """Return whether a call is ``session.execute()``, ``link.execute()``,
    ``transaction.execute()`` or ``session.connection().execute()``."""
    if not (isinstance(call.func, ast.Attribute)
            and call.func.attr in SENDING):
        return False
    owner = call.func.value
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
        owner = owner.func.value
    return isinstance(owner, ast.Name) and owner.id in CONNECTED


def _visible(path, name):
    """The name of a function and its scope: a private function is known in its
    file."""
    return path if str(name).startswith('_') else None, name


def _passes_on(path, call, names):
    """Return whether the call passes a session, a database or ``self`` to a
    function with one of the names."""
    if _visible(path, _name(call.func)) not in names:
        return False
    owner = getattr(call.func, 'value', None)
    owners = {_name(each) for each in call.args[:1]}
    return _name(owner) == 'self' or not owners.isdisjoint(
        (*CONNECTED, 'database', '_database'))


def _name(node):
    """``c`` of ``a.b.c`` and of ``c``; None for other expressions."""
    return getattr(node, 'attr', getattr(node, 'id', None))


@contextlib.contextmanager
def statements_by_call_site(engine):
    """Record the statements of a block.

    :returns: the statements of each reached call site by their texts. An
        INSERT has no plan and is left out. A statement that a session sends
        for a call belongs to the innermost call site
    """
    sent = defaultdict(dict)

    def record(_connection, _cursor, text, parameters, _context, many):
        stack = _reached(sys._getframe(1))
        for site in stack:
            sent[site].update()
        if stack and text.startswith(('SELECT', 'UPDATE', 'DELETE')):
            # Every row of an executemany() has the same plan.
            sent[stack[0]][text] = Statement(
                text, parameters[0] if many else parameters)

    sa.event.listen(engine, 'before_cursor_execute', record)
    try:
        yield sent
    finally:
        sa.event.remove(engine, 'before_cursor_execute', record)


def _reached(frame):
    """The call sites on the stack; the innermost is first."""
    found = []
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(f'{ROOT}/'):
            found += _at(path.removeprefix(f'{ROOT}/'), frame.f_lineno)
        frame = frame.f_back
    return found


@functools.cache
def _at(path, line):
    """The call sites that contain a line; the shortest is first."""
    return sorted((site for site in call_sites() if site.path == path
                   and site.first <= line <= site.last),
                  key=lambda site: site.last - site.first)
