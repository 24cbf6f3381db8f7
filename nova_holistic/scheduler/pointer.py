# SPDX-License-Identifier: Apache-2.0
"""The pointer from a create to the place that was planned for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oslo_utils import uuidutils

from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.hinted import ROOT_STACK_HINT, server_group_of
from nova_holistic.table.coordination.bindings import Bindings, Hinted


@dataclass(frozen=True, slots=True)
class Pointer:
    """A group, and the path of a member or of a member description in it.

    :ivar group: UUID of a top-level group
    """

    group: str
    member: str

    @classmethod
    def from_hints(cls, hints: Mapping[str, Sequence[str] | str] | None
                   ) -> 'Pointer | None':
        """The pointer in a server's scheduler hints; None if they have none.

        :raises RequestRefused: the hints are not a valid pointer
        """
        if not has_pointer(hints):
            return None
        group = _only_value(hints, GROUP_HINT)
        if not uuidutils.is_uuid_like(group):
            raise RequestRefused(f'{GROUP_HINT}={group} is not a UUID')
        return cls(str(group).lower(), _only_value(hints, MEMBER_HINT))


def has_pointer(hints: Mapping | None) -> bool:
    """Whether a server's scheduler hints contain any part of a pointer."""
    return bool(hints) and (GROUP_HINT in hints or MEMBER_HINT in hints)


def target_of(hints: Mapping) -> str:
    """The target of a request with a pointer or a binding, for the log."""
    if has_pointer(hints):
        return (f'group {hints.get(GROUP_HINT)}, member '
                f'{hints.get(MEMBER_HINT)}')
    group = server_group_of(hints)
    return (f'server group {group}' if group else
            f'Heat stack {hints.get(ROOT_STACK_HINT)}')


def must_agree(bindings: Bindings, hints: Mapping) -> None:
    """Check that the pointer and the server group of a create agree.

    :param hints: scheduler hints of the create
    :raises RequestRefused: the server group is bound to another member, or the
        pointer is invalid
    :raises TableError: the table does not answer
    """
    pointer, server_group = Pointer.from_hints(hints), server_group_of(hints)
    if pointer is None or server_group is None:
        return
    bound = bindings.pointed(Hinted(server_group))
    if bound is None or bound.group_uuid == pointer.group and (
            bound.path == pointer.member or bindings.is_described(
                pointer.group, pointer.member, bound.path)):
        return
    raise RequestRefused(
        f'the request has a pointer to member {pointer.member!r} of group '
        f'{pointer.group}, and server group {server_group} is bound to '
        'another member')


def _only_value(hints: Mapping[str, Sequence[str] | str], name: str) -> str:
    values = hints.get(name)
    # Nova turns a single string into a list on its way to the scheduler.
    values = [values] if isinstance(values, str) else values or []
    if len(values) != 1 or not values[0]:
        problem = ('is missing' if not values else
                   'is empty' if len(values) == 1 else
                   f'has {len(values)} values')
        raise RequestRefused(f'a pointer needs one {GROUP_HINT} and one '
                             f'{MEMBER_HINT}; {name} {problem}')
    if not isinstance(values[0], str) or not values[0].isprintable():
        # No path contains such a character, and not every database accepts
        # half of a surrogate pair.
        raise RequestRefused(f'{name} is not text, or has characters that a '
                             f'path cannot have')
    return values[0]
