# SPDX-License-Identifier: Apache-2.0
"""The definition of a part in its child."""

from nova_holistic.federation.child import (
    Child, ChildDefinition, Document, Refusal, RefusalKind, UpdateTerms)
from nova_holistic.model.plan import Reason

_TRIES = 3
"""How often a request is sent whose answer is lost. Every time, the definition
is read first, so that a lost answer changes nothing twice."""


def bring(child: Child, group_uuid: str, document: Document,
          terms: UpdateTerms, forced: bool = False
          ) -> ChildDefinition | Refusal:
    """Let the part have this definition.

    :param forced: whether the child plans members that it released or lost,
        although it has the definition
    """
    found: ChildDefinition | Refusal | None = None
    for _ in range(_TRIES):
        seen = child.definition(group_uuid)
        if isinstance(seen, ChildDefinition):
            if not seen.group.settled:
                return _refusal(child, RefusalKind.UNKNOWN,
                                'the cloud works on another change of its '
                                'part')
            if seen.document == document and not forced:
                return seen
            found = child.update(seen, document, terms)
        else:
            found = seen
        if not (isinstance(found, Refusal)
                and found.kind is RefusalKind.UNREACHABLE):
            break
    if found is None:
        return _refusal(child, RefusalKind.INVALID,
                        'the cloud no longer has its part of the group; '
                        'replan the group')
    return found


def _refusal(child: Child, kind: RefusalKind, text: str) -> Refusal:
    text = f'cloud {child.name}: {text}'
    return Refusal(child.name, kind, (
        Reason('', text, names=(), hidden=(), public=text),))
