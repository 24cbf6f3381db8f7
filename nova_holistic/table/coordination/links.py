# SPDX-License-Identifier: Apache-2.0
"""The traffic of groups on the uplinks of domains, which all engines share."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.table.changes import link_demands
from nova_holistic.table.changes.link_demands import Demand, LinksVersion
from nova_holistic.table.database import Database
from nova_holistic.table.records import GroupStatus
from nova_holistic.table.schema.link_models import LinkDemandRow, LinkRow
from nova_holistic.table.schema.models import GroupRow

_VERSIONS = (GroupRow.uuid, GroupRow.places_version, GroupRow.links_version)


class Links:
    """The traffic on uplinks. The database has a row for each uplink with the
    traffic of all groups, and a row for each group that uses the uplink. No
    method reads the members of any group."""

    def __init__(self, database: Database):
        self._database = database

    def demand_of_others(self, group_uuid: str | None) -> Demand:
        """The traffic of all groups except this one; None excludes no
        group."""
        own = sa.and_(LinkDemandRow.link == LinkRow.link,
                      LinkDemandRow.group_uuid == group_uuid)
        rest = LinkRow.mbps - sa.func.coalesce(LinkDemandRow.mbps, 0)
        with self._database.reader() as session:
            return {
                Domain(names[0], tuple(names[1:])): int(mbps)
                for names, mbps in session.execute(
                    sa.select(LinkRow.domain, rest).outerjoin(
                        LinkDemandRow, own).where(rest != 0))}

    def changed(self) -> Sequence[LinksVersion]:
        """Groups whose members changed their places after the traffic was
        written. Groups with a task are left out."""
        return self._versions(
            # MariaDB does not use the index for "is true".
            GroupRow.uses_links == sa.true(),
            GroupRow.links_version != GroupRow.places_version,
            GroupRow.task.is_(None),
            GroupRow.status != GroupStatus.PLANNING)

    def version(self, group_uuid: str) -> LinksVersion | None:
        """The versions of a group; None if it does not exist."""
        return next(iter(self._versions(GroupRow.uuid == group_uuid)), None)

    def _versions(self, *where: Any) -> Sequence[LinksVersion]:
        with self._database.reader() as session:
            return [LinksVersion(*row) for row in session.execute(
                sa.select(*_VERSIONS).where(*where))]

    def reserve(self, group_uuid: str, demand: Demand, limits: Demand,
                replace: bool = False) -> Domain | None:
        """See ``link_demands.reserve``."""
        return link_demands.reserve(
            self._database, group_uuid, demand, limits, replace)

    def settle(self, seen: LinksVersion, demand: Demand,
               owned: bool = False) -> bool:
        """See ``link_demands.settle``."""
        return link_demands.settle(self._database, seen, demand, owned)
