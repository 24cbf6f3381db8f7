# SPDX-License-Identifier: Apache-2.0
"""Changes the definition of a part in its child."""

from nova_holistic.federation.child import (
    Child, ChildDefinition, Document, Refusal, RefusalKind, UpdateTerms)
from nova_holistic.model.plan import Reason

_TRIES = 3
"""Maximum number of attempts if answers are lost, or if the definition changes
in the child at the same time. Each attempt reads the definition first, so that
a change whose answer was lost is not made twice."""


def change_definition(child: Child, group_uuid: str, document: Document,
                      terms: UpdateTerms, forced: bool = False
                      ) -> ChildDefinition | Refusal:
    """Change the definition of the part, unless it already has this document.

    :param forced: whether an equal definition is sent, too, so that the child
        plans members again that it released or lost
    :returns: the group with the definition, or why the child does not have it
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
        if not (isinstance(found, Refusal) and found.kind in (
                RefusalKind.UNREACHABLE, RefusalKind.CHANGED)):
            break
    if found is None:
        return _refusal(child, RefusalKind.INVALID,
                        'the cloud does not show its part of the group; '
                        'replan the group')
    if isinstance(found, Refusal) and found.kind is RefusalKind.CHANGED:
        return _refusal(child, RefusalKind.UNKNOWN,
                        'the definition of its part keeps changing in the '
                        'cloud; try again')
    return found


def _refusal(child: Child, kind: RefusalKind, text: str) -> Refusal:
    text = f'cloud {child.name}: {text}'
    return Refusal(child.name, kind, (
        Reason('', text, names=(), hidden=(), public=text),))
