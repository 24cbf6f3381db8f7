# SPDX-License-Identifier: Apache-2.0
"""Group documents without policies and relationships, whose types may be
missing."""

from collections.abc import Iterator, Mapping
from typing import Any

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.group import Group


def parse_without_policies(document: Mapping[str, Any]) -> Group:
    """The members and nested groups of an accepted document.

    :param document: with or without its outer key
    """
    return parse_group(_bare(document.get('group', document)), {})


def _bare(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**dict(_items_without_policies(document)),
            **({'groups': [_bare(g) for g in document['groups']]}
               if 'groups' in document else {})}


def _items_without_policies(document: Mapping[str, Any],
                            ) -> Iterator[tuple[str, Any]]:
    return (item for item in document.items()
            if item[0] not in ('policies', 'relationships'))
