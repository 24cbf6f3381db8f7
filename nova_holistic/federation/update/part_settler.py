# SPDX-License-Identifier: Apache-2.0
"""Makes the parts in the children agree with the rows of a group.

The definition of the group and the clouds of its members determine the parts.
A part without members is deleted. The other parts get the definition that
follows from the definition of the group.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from oslo_log import log as logging

from nova_holistic.federation.child import (
    Child, Document, Refusal, UpdateTerms)
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.saga.journal import (
    Journal, PartRecord, PartState)
from nova_holistic.federation.splitting.locations import named_clouds
from nova_holistic.federation.splitting.part_documents import PartDocuments
from nova_holistic.federation.splitting.parts import divide
from nova_holistic.federation.table_journal import record_of
from nova_holistic.federation.undo import undo_parts
from nova_holistic.federation.update.part_definition import change_definition
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table.records import GroupRecord
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

HELD = (PartState.COMMITTED, PartState.CHANGING)
"""States of a part that has members of the group."""


class PartSettler:
    """Settles the parts of groups. If a child does not carry out a change, the
    journal keeps the state of the part, and the next call repeats the change.
    """

    def __init__(self, table: PlacementTable, children: UserChildren,
                 policy_types: PolicyTypes, seconds: float,
                 clock: Callable[[], datetime]):
        """
        :param seconds: time limit of one change of a part
        :param clock: returns naive UTC
        """
        self._table = table
        self._children = children
        self._policy_types = policy_types
        self._seconds = seconds
        self._clock = clock

    def settle(self, user: User, record: GroupRecord,
               journal: Journal) -> None:
        """Change the definitions of parts that are CHANGING, and delete parts
        that have no members or were never committed.

        :param record: the group with the definition that the parts must have
        :raises JournalRefused: the group belongs to another process, or has
            changed since the record was read
        """
        for part, inside in self._due(record.uuid, _needs_change):
            self._change(user, record, part, inside, journal)
        for part, _ in self._due(record.uuid, _needs_deletion):
            undo_parts([record_of(part)],
                       lambda each: self._children.child_of(user, each),
                       journal, self._clock())

    def is_due(self, group_uuid: str) -> bool:
        """Whether ``settle`` would change a part."""
        return any(_needs_change(*each) or _needs_deletion(*each)
                   for each in self._read(group_uuid).values())

    def child_of(self, user: User, part: PartRecord) -> Child:
        """See ``UserChildren.child_of``."""
        return self._children.child_of(user, part)

    def paths(self, group_uuid: str) -> Mapping[str, Sequence[str]]:
        """Cloud to the paths of its members."""
        found: dict[str, list[str]] = defaultdict(list)
        for row in self._table.members(group_uuid):
            found[row.place.host].append(row.member.path)
        return found

    def document(self, record: GroupRecord, child: str,
                 paths: Sequence[str]) -> Document:
        """The document of a part.

        :param child: name of the child
        :param paths: paths of the members of the part
        """
        found = definition(record)
        return PartDocuments(divide(
            found, self._policy_types, named_clouds(found).union(
                self._children.entries))).document(paths, child)

    def _due(self, group_uuid: str,
             is_due: Callable[[GroupPart, Sequence[str]], bool]
             ) -> Iterator[tuple[GroupPart, Sequence[str]]]:
        """The parts that are due, with the paths of their members. Each part
        is read again before its turn, because the requests for the other parts
        take time."""
        for key in [key for key, found in self._read(group_uuid).items()
                    if is_due(*found)]:
            found = self._read(group_uuid).get(key)
            if found is not None and is_due(*found):
                yield found

    def _read(self, group_uuid: str
              ) -> Mapping[str, tuple[GroupPart, Sequence[str]]]:
        """Idempotency key to the part and the paths of its members."""
        # The members are read last, so that those of each part are known whose
        # task has ended.
        parts = self._table.parts.of_group(group_uuid)
        paths = self.paths(group_uuid)
        return {part.idempotency_key: (part, paths.get(part.child, ()))
                for part in parts}

    def _change(self, user: User, record: GroupRecord, part: GroupPart,
                paths: Sequence[str], journal: Journal) -> None:
        document = self.document(record, part.child, paths)
        child = self._children.child_of(user, record_of(part))
        # Refused if the document follows from an outdated definition.
        journal.write(record_of(part))
        found = change_definition(
            child, part.child_group or '', document, UpdateTerms(
                record.objective, self._seconds, actions=True))
        if isinstance(found, Refusal):
            LOG.warning(
                'Part %s in child %s does not have its definition yet: %s',
                part.idempotency_key, part.child, '; '.join(
                    str(each.message) for each in found.reasons))
            return
        journal.write(replace(
            record_of(part), state=PartState.COMMITTED, paths=tuple(paths),
            name=document['name'], lease_end=found.group.lease_end))


def definition(record: GroupRecord) -> Document:
    """The document of a group without its outer key."""
    return record.document.get('group', record.document)


def _needs_change(part: GroupPart, inside: Sequence[str]) -> bool:
    return bool(inside) and part.state == PartState.CHANGING


def _needs_deletion(part: GroupPart, inside: Sequence[str]) -> bool:
    return not inside or part.state not in HELD
