# SPDX-License-Identifier: Apache-2.0
"""Parts of group documents, found by name or path."""

from collections.abc import Mapping, Sequence
from typing import Any

Document = dict[str, Any]


def top(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The group of a document, with or without its outer key."""
    return document.get('group', document)


def below(path: str, name: str) -> str:
    return f'{path}/{name}'.lstrip('/')


def index(parts: Sequence[Mapping[str, Any]], name: str) -> int | None:
    return next((i for i, part in enumerate(parts)
                 if part['name'] == name), None)
