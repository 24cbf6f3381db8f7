# SPDX-License-Identifier: Apache-2.0
"""The names that a Python module defines, as words."""

import ast
from collections.abc import Iterator
import re


def names(source: str) -> Iterator[tuple[int, str]]:
    """Generate the line and the words of each class, function, argument,
    variable and attribute: ``PlanCost`` and ``plan_cost`` become
    ``plan-cost``."""
    for node in ast.walk(ast.parse(source)):
        name = _defined(node)
        if name is not None:
            yield node.lineno, _words(name)


def _defined(node: ast.AST) -> str | None:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    return None


def _words(name: str) -> str:
    words = re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name)
    return '-'.join(word.lower() for word in words.split('_') if word)
