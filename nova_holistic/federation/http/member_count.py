# SPDX-License-Identifier: Apache-2.0
"""Counts the members of a valid document."""

from nova_holistic.documents.groups.bounds import has_bounds
from nova_holistic.federation.child import Document


def member_count(document: Document) -> int | None:
    """The number of members; None: the number may change."""
    return None if has_bounds(document) else _count(document)


def _count(document: Document) -> int:
    own = sum(each.get('count', 1) - len(each.get('skip', ()))
              for each in document.get('members', ()))
    return own + sum(each.get('count', 1) * _count(each)
                     for each in document.get('groups', ()))
