# SPDX-License-Identifier: Apache-2.0
"""A scan of the sources for two durable writes without a crash point between
them.

A call counts as a write by its receiver and its name, see ``WRITES``. Calls of
methods and functions of the same module are followed. A call that raises, and
a call whose result is tested and false, has written nothing.
"""

import ast
from dataclasses import dataclass

_TABLE = ('create_group update_group delete_group write_members claim take '
          'change_state release release_unleased expire extend_lease '
          'offer_places accept_places forget_holds settle').split()
_HOLDS = 'put drop swap unswap exchange empty restore withdraw'.split()
_JOURNAL = 'write move put drop undo exchange close recover'.split()
_OWNERSHIP = 'change write_members finish'.split()
WRITES = {
    'table': _TABLE, '_table': _TABLE, 'holds': _HOLDS, '_holds': _HOLDS,
    'tasks': ['request', 'take', 'change', 'finish', 'interrupt'],
    'due_alternates': ['take', 'write', 'give_up'],
    'due': ['take'],
    'plans': ['create', 'take', 'finish', 'forget'], 'refusals': ['add'],
    'bindings': ['add', 'remove'],
    '_jobs': ['take', 'finish'], 'jobs': ['return_work'], 'task': ['do'],
    'queues': ['return_work'], 'statistics': ['put', 'forget'],
    'history': ['prune'],
    'outages': ['give_up'], 'group_revision': ['vacate', 'occupy', 'revise'],
    'member_replan': ['move'], 'held_places': ['hand_over'],
    'journal': _JOURNAL, 'ownership': _OWNERSHIP, '_ownership': _OWNERSHIP,
    'change': ['write', 'hold', 'accept', 'drop_unneeded'],
    '_executor': ['carry_out'], '_updater': ['undo', 'update'],
    '_creator': ['plan', 'give_up'], '_returning': ['give_back'],
    'lost_member': ['record_loss'],
    'member_moves': ['move', 'write_destination'],
    'unneeded_holds': ['drop_if_unwanted'],
    'group_degradation': ['degrade', 'recover'], 'detaching': ['detach'],
    '_instances': ['live_migrate'], 'actions': ['replace', 'change'],
    '_actions': ['resize', 'migrate', 'live_migrate', 'rebuild', 'confirm'],
    '_steps': ['carry_out', 'finish'],
    'boots': ['begin', 'change', 'change_server', 'close', 'stop'],
    '_boots': ['take'], 'nova': ['create', 'delete'],
    'progress': ['begin_boot', 'change_status', 'write_server', 'close_boot'],
    'right': ['end'], 'user_rights': ['grant', 'withdraw'],
    '': ['drop_leftovers', 'drop_if_unwanted', 'lose_place'],
}
"""Names of functions that write, by the last word of their receiver.
Heartbeats do not count: other engines take over from an engine without
heartbeats."""

ENDS_AT_POINT = ('carry_out', 'recover', 'begin_boot', 'change_status',
                 'write_server', 'close_boot')
"""Writing functions that reach a crash point after their last write."""

CLEAN, WRITTEN, NOWHERE = frozenset(['clean']), frozenset(
    ['written']), frozenset()
"""States of the control flow: whether anything was written since the last
crash point. A third state means that control does not reach this position."""


@dataclass(frozen=True)
class Gap:
    """A write that follows another one without a crash point between them."""

    module: str
    line: int

    def __str__(self):
        return f'{self.module}:{self.line}'


class Flow:
    """The control flow of one module."""

    def __init__(self, module, source):
        self._module = module
        self._functions = {
            node.name: node for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef)}
        self._following = []
        self._exits = []
        self._before = []
        self.gaps = set()

    def check(self):
        """Find the gaps of all functions. Each begins without a write."""
        for function in self._functions.values():
            self._run(function, CLEAN)
        return self.gaps

    def _run(self, function, state):
        """The possible states at the end of a function."""
        if function.name in self._following:
            return state
        self._following.append(function.name)
        self._exits.append(NOWHERE)
        state = self._block(function.body, state)
        self._following.pop()
        return state | self._exits.pop()

    def _block(self, statements, state):
        for statement in statements:
            state = self._statement(statement, state)
        return state

    def _statement(self, node, state):
        if not state or isinstance(node, (
                ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            return state
        if isinstance(node, ast.If):
            return self._if(node, state)
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, state)
        if isinstance(node, ast.Try):
            return self._try(node, state)
        if isinstance(node, ast.With):
            for item in node.items:
                state = self._expression(item.context_expr, state)
            return self._block(node.body, state)
        state = self._expression(node, state)
        if isinstance(node, ast.Return):
            self._exits[-1] |= state
        return NOWHERE if isinstance(node, (
            ast.Return, ast.Raise, ast.Continue, ast.Break)) else state

    def _if(self, node, state):
        after = self._expression(node.test, state)
        done, failed = after, after
        if isinstance(node.test, ast.Call):
            failed = state
        elif isinstance(node.test, ast.UnaryOp) and isinstance(
                node.test.operand, ast.Call):
            done = state
        return self._block(node.body, done) | self._block(
            node.orelse, failed)

    def _loop(self, node, state):
        head = node.iter if isinstance(node, ast.For) else node.test
        state = self._expression(head, state)
        # The loop is analysed twice, because one round precedes the next.
        once = state | self._block(node.body, state)
        return once | self._block(node.body, once)

    def _try(self, node, state):
        self._before.append(state)
        after = self._block(node.body, state)
        # Any call may raise and lead to a handler. Such a call has written
        # nothing.
        raised = self._before.pop()
        after = self._block(node.orelse, after)
        for handler in node.handlers:
            after |= self._block(handler.body, raised)
        return self._block(node.finalbody, after)

    def _expression(self, node, state):
        for call in _calls(node):
            state = self._call(call, state)
        return state

    def _call(self, call, state):
        receiver, name = _target(call)
        if name == 'reached':
            return CLEAN
        if self._before:
            self._before[-1] |= state
        if name in WRITES.get(receiver, ()):
            if state & WRITTEN:
                self.gaps.add(Gap(self._module, call.lineno))
            return CLEAN if name in ENDS_AT_POINT else WRITTEN
        if receiver in ('self', '') and name in self._functions:
            return self._run(self._functions[name], state) or state
        return state


def _calls(node):
    """The calls in an expression, in the order of their evaluation."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.Lambda, ast.FunctionDef)):
            yield from _calls(child)
    if isinstance(node, ast.Call):
        yield node


def _target(call):
    """The last word of the receiver, and the name of the called function."""
    function = call.func
    if isinstance(function, ast.Name):
        return '', function.id
    if not isinstance(function, ast.Attribute):
        return '', ''
    receiver = function.value
    if isinstance(receiver, ast.Attribute):
        return receiver.attr, function.attr
    return getattr(receiver, 'id', ''), function.attr
