# SPDX-License-Identifier: Apache-2.0
"""The parents through which a request has come, outermost first.

Each parent adds its own name to the header of its requests, and refuses a
request that has already passed it. Parents that are children of each other
therefore do not send a request in a cycle.
"""

from collections.abc import Iterable, Sequence
import hashlib
import json
import re

from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.errors import InvalidParents, ParentsRefused

HEADER = 'Holistic-Parents'
MOST = 9
"""Maximum number of parents above a cloud. The path of a cloud in locations
and answers has at most as many names."""
_NAME = re.compile(r'[A-Za-z0-9_.]{1,32}:[0-9a-f]{16}')


def name_of(parent_id: str, children: Iterable[ChildEntry]) -> str:
    """The name of a parent in the header.

    All processes of a parent have the same children. The hash of these
    distinguishes two parents of a chain that have the same ``parent_id``,
    which is allowed if they have no common children.
    """
    text = json.dumps([
        [each.name, each.endpoint, each.region, each.keystone]
        for each in children])
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{parent_id}:{digest[:16]}'


def parse(text: str) -> tuple[str, ...]:
    """The names of the parents in the header of a request.

    :raises InvalidParents: the header has another form, or too many names
    """
    names = tuple(text.split(','))
    if len(names) > MOST or not all(map(_NAME.fullmatch, names)):
        raise InvalidParents(
            f'{HEADER} must be 1 to {MOST} names of parents, separated by '
            'commas')
    return names


def joined(parents: Sequence[str], own: str) -> str:
    """The value of the header of a request to a child.

    :param own: name of this parent
    """
    return ','.join((*parents, own))


def must_be_possible(parents: Sequence[str], own: str) -> None:
    """Check a request before any child receives it.

    :raises ParentsRefused: the request has passed this parent, or too many
        parents
    """
    path = ' -> '.join(name.partition(':')[0] for name in (*parents, own))
    if own in parents:
        raise ParentsRefused(f'the parents form a cycle: {path}')
    if len(parents) >= MOST:
        raise ParentsRefused(
            f'a cloud has at most {MOST} parents above it: {path}')
