# SPDX-License-Identifier: Apache-2.0
"""The placement table: place, hold, state and instance of each member."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import (
    claim, group_creation, group_deletion, group_lease, member_release,
    member_replan, planned_rows, transitions)
from nova_holistic.table.changes.claim import (
    Claim, NO_SEEN_ROWS, SeenRows, Standing)
from nova_holistic.table.changes.first_change import FirstChange
from nova_holistic.table.conditional_updates import update_rows
from nova_holistic.table.coordination.actions import Actions
from nova_holistic.table.coordination.bindings import Bindings
from nova_holistic.table.coordination.boots import Boots
from nova_holistic.table.coordination.child_credentials import (
    ChildCredentials)
from nova_holistic.table.coordination.due_alternates import DueAlternates
from nova_holistic.table.coordination.jobs import Jobs
from nova_holistic.table.coordination.links import Links
from nova_holistic.table.coordination.outages import HostOutages
from nova_holistic.table.coordination.parts import Parts
from nova_holistic.table.coordination.plans import Plans
from nova_holistic.table.coordination.refusals import Refusals
from nova_holistic.table.coordination.statistics import Statistics
from nova_holistic.table.coordination.tasks import Tasks
from nova_holistic.table.coordination.volumes import Volumes
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history.pages import History
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.queries.exclusive import ExclusiveGroups
from nova_holistic.table.queries.expired_groups import ExpiredGroups
from nova_holistic.table.queries.group_cache import GroupCache
from nova_holistic.table.queries.listing import Listing
from nova_holistic.table.queries import memberships, one_group
from nova_holistic.table.queries.outlines import OutlineCache
from nova_holistic.table.queries import progress
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from nova_holistic.table import rows, states
from nova_holistic.table.schema.models import GroupRow, MemberRow

OCCUPYING = states.OCCUPYING


class PlacementTable:
    """The placement table. Every method is one short transaction, and every
    change of a state is a compare-and-swap. Threads may share an instance.

    All methods raise TableError if the database is unavailable.
    """

    def __init__(self, connection: str | Database):
        """:param connection: SQLAlchemy URL, or a Database made from one"""
        self.database = (connection if isinstance(connection, Database)
                         else Database(connection))
        self.tasks = Tasks(self.database)
        self.volumes = Volumes(self.database)
        self.listing = Listing(self.database)
        self.plans = Plans(self.database)
        self.statistics = Statistics(self.database)
        self.jobs = Jobs(self.database)
        self.due_alternates = DueAlternates(self.database)
        self.outages = HostOutages(self.database)
        self.refusals = Refusals(self.database)
        self.bindings = Bindings(self.database)
        self.actions = Actions(self.database)
        self.boots = Boots(self.database)
        self.parts = Parts(self.database)
        self.child_credentials = ChildCredentials(self.database)
        self.links = Links(self.database)
        self.history = History(self.database)
        self.group_cache = GroupCache(self.database)
        self.outlines = OutlineCache(self.database)
        self._exclusive = ExclusiveGroups(self.database, states.AT_HOSTS)
        self._expired = ExpiredGroups(self.database)

    @classmethod
    def from_conf(cls, conf, service: str = '') -> 'PlacementTable':
        """Create a table from the options in [holistic_database].

        :param service: name of the service in the events that it writes
        """
        return cls(Database(service=service, **dict(conf.holistic_database)))

    def create_group(self, record: GroupRecord, *requests: Any) -> None:
        """See ``group_creation.create``."""
        group_creation.create(self.database, record, *requests)

    def get_group(self, group_uuid: str) -> GroupRecord | None:
        """The group with this UUID; None if it does not exist."""
        return one_group.group(self.database, group_uuid)

    def group_with_members(self, group_uuid: str) -> tuple[
            GroupRecord, Sequence[MemberRecord]] | None:
        """See ``one_group.with_members``."""
        return one_group.with_members(self.database, group_uuid)

    def alternates(self, member_ids: Collection[int]
                   ) -> Mapping[int, Sequence[Place]]:
        """Alternates of members by their ids."""
        with self.database.reader() as session:
            return {number: rows.places(values)
                    for batch in batches(member_ids)
                    for number, values in session.execute(
                        sa.select(MemberRow.id, MemberRow.alternates).where(
                            MemberRow.id.in_(batch)))}

    def list_groups(self, project_id: str | None = None,
                    statuses: Collection[GroupStatus] | None = None,
                    ) -> tuple[GroupRecord, ...]:
        """Groups, oldest first. None selects all groups."""
        query = sa.select(GroupRow).order_by(
            GroupRow.created_at, GroupRow.uuid)
        if project_id is not None:
            query = query.where(GroupRow.project_id == project_id)
        if statuses is not None:
            query = query.where(GroupRow.status.in_(statuses))
        with self.database.reader() as session:
            return tuple(map(rows.group_record, session.scalars(query)))

    @retried
    def update_group(self, group_uuid: str,
                     expected: Collection[GroupStatus],
                     at_revision: int | None = None, **changes: Any) -> bool:
        """Change a group if its status is one of those expected.

        :param at_revision: required revision of the group; None means any
        :param changes: fields of GroupRecord
        :returns: False if the group has another status or revision, or does
            not exist
        :raises IllegalTransition: ``states.GROUPS`` does not have the change
        """
        if 'status' in changes:
            states.GROUPS.check(expected, changes['status'])
        where = [GroupRow.status.in_(expected)]
        if at_revision is not None:
            where.append(GroupRow.revision == at_revision)
        with self.database.link_writer() as transaction:
            return transitions.change_group(
                transaction, group_uuid, where, rows.group_changes(changes))

    def delete_group(self, group_uuid: str, revision: int | None = None
                     ) -> frozenset[str] | None:
        """Delete a group: see ``group_deletion.delete``."""
        return group_deletion.delete(self.database, group_uuid, revision)

    def write_members(self, group_uuid: str,
                      members: Sequence[MemberRecord],
                      engine: str | None = None, **others: Any) -> bool:
        """See ``planned_rows.write``.

        :param others: other fields of ``PlannedRows``
        """
        return planned_rows.write(
            self.database, group_uuid,
            planned_rows.PlannedRows(members, **others), engine)

    def members(self, group_uuid: str) -> tuple[MemberRecord, ...]:
        """All members of a group, in the order of its document."""
        return one_group.members(self.database, group_uuid)

    def member_of_instance(self, instance_uuid: str) -> MemberRecord | None:
        """The member of an instance; None if the instance has no member."""
        found = self._select(MemberRow.instance_uuid == instance_uuid)
        return found[0] if found else None

    def find_members(self, states: Collection[MemberState],
                     held: bool | None = None) -> tuple[MemberRecord, ...]:
        """Members in one of the states, without their alternates."""
        query = sa.select(*rows.BARE).where(MemberRow.state.in_(states))
        if held is not None:
            query = query.where(MemberRow.held == held)
        with self.database.reader() as session:
            return tuple(map(rows.bare_member, session.execute(
                query.order_by(MemberRow.group_uuid, MemberRow.position))))

    def claim(self, group_uuid: str, path: str, instance_uuid: str,
              now: datetime) -> MemberRecord:
        """Assign a planned member to an instance: see ``claim.claim``."""
        return self.take(group_uuid, path, instance_uuid, now).row

    def take(self, group_uuid: str, path: str, instance_uuid: str,
             now: datetime, seen: SeenRows = NO_SEEN_ROWS) -> Claim:
        """Like ``claim``; also returns whether the instance had the row."""
        return claim.claim(
            self.database, group_uuid, path, instance_uuid, now, seen)

    def standing(self, member_ids: Collection[int]
                 ) -> Mapping[int, Standing]:
        """Instances of members and statuses of groups: ``claim.standing``."""
        return claim.standing(self.database, member_ids)

    def change_state(self, member_id: int, expected: Collection[MemberState],
                     to: MemberState, now: datetime | None, *,
                     of_instance: str | None = None,
                     of_hold: str | None = None,
                     of_place: MemberRecord | None = None,
                     **changes: Any) -> bool:
        """Change a member if its state is one of those expected. If it was
        released while it had a server, it is released, not planned or lost.

        :param of_instance: required instance; None means any
        :param of_hold: required hold, which a new plan changes; None means any
        :param of_place: the row as read, with the required place; None means
            any
        :param changes: other fields of MemberRecord: see
            ``rows.member_changes``
        :returns: False if a condition is not satisfied
        :raises IllegalTransition: ``states.MEMBERS`` does not have the change
        """
        states.MEMBERS.check(expected, to)
        where = [MemberRow.id == member_id, MemberRow.state.in_(expected)]
        if of_instance is not None:
            where.append(MemberRow.instance_uuid == of_instance)
        if of_hold is not None:
            where.append(MemberRow.hold == of_hold)
        if of_place is not None:
            where += [MemberRow.host == of_place.place.host,
                      MemberRow.updated_at == of_place.updated_at]
        values = {'state': to, 'updated_at': now,
                  **rows.member_changes(changes)}
        return self._change_states(where, values) == 1

    def release(self, holds: Collection[str], now: datetime,
                with_servers: bool = False,
                first: FirstChange | None = None) -> bool:
        """Release members without a server: ``member_release.release``."""
        return member_release.release(
            self.database, holds, now, with_servers, first)

    def release_unleased(self, member: MemberRecord, now: datetime,
                         surplus: member_release.Surplus | None = None
                         ) -> bool:
        """See ``member_release.release_unleased``."""
        return member_release.release_unleased(
            self.database, member, now, surplus)

    def extend_lease(self, group_uuid: str, *change: Any) -> bool:
        """Set a new end of the lease: see ``group_lease.extend``."""
        return group_lease.extend(self.database, group_uuid, *change)

    def expire(self, group_uuid: str, now: datetime) -> None:
        """Release the unclaimed members of a group if its lease has expired:
        see ``group_lease.expire``."""
        group_lease.expire(self.database, group_uuid, now)

    def offer_places(self, members: Sequence[MemberRecord]) -> bool:
        """Write the places at which lost members will be held: see
        ``member_replan.offer``."""
        return member_replan.offer(self.database, members)

    def accept_places(self, holds: Collection[str], now: datetime) -> None:
        """Mark lost members as planned, because their new holds exist: see
        ``member_replan.accept``."""
        member_replan.accept(self.database, holds, now)

    def exclusive_groups(self, *state: Any) -> Sequence[Found]:
        """Exclusive groups with members: see ``ExclusiveGroups.read``."""
        return self._exclusive.read(*state)

    def hosts_of_members(self, hosts: Collection[str],
                         except_group: str) -> list[str]:
        """The host of each member that uses capacity of any of the hosts: see
        ``memberships.hosts_of_members``."""
        return memberships.hosts_of_members(
            self.database, hosts, except_group)

    def forget_holds(self, holds: Collection[str]) -> None:
        """Write that holds do not exist any longer."""
        for batch in batches(holds):
            update_rows(self.database, MemberRow,
                        [MemberRow.hold.in_(batch)], {'held': False})

    def settle(self, group_uuid: str, now: datetime) -> None:
        """Update the status of a group to the states of its members."""
        progress.settle(self.database, group_uuid, now)

    def expired_groups(self, now: datetime) -> tuple[GroupRecord, ...]:
        """Groups with an expired lease and unclaimed members or volumes: see
        ``ExpiredGroups.read``."""
        return self._expired.read(now)

    @retried
    def _change_states(self, where: Sequence[Any],
                       values: Mapping[str, Any]) -> int:
        """Change members and their states; returns their number."""
        with self.database.link_writer() as transaction:
            return transitions.change_members(transaction, where, values)

    def _select(self, *where) -> tuple[MemberRecord, ...]:
        query = sa.select(MemberRow).where(*where).order_by(
            MemberRow.group_uuid, MemberRow.position)
        with self.database.reader() as session:
            return tuple(map(rows.member_record, session.scalars(query)))
