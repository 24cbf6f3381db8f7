# SPDX-License-Identifier: Apache-2.0
"""Writes the traffic that a group reserves on uplinks.

The totals of all groups change in the same transaction. A reservation cannot
exceed the capacity of an uplink, because the statement that changes its total
compares the new total with the capacity. If two groups are planned at the same
time, the second one finds the uplink full.

Each transaction changes the group's row first and then the totals, in the
order of their keys, so that no two of them wait for each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import json
import random

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table.records import GroupStatus
from nova_holistic.table.schema.link_models import LinkDemandRow, LinkRow
from nova_holistic.table.schema.models import GroupRow

Demand = Mapping[Domain, int]
"""Mbit/s on the uplink of each domain."""


@dataclass(frozen=True, slots=True)
class LinksVersion:
    """Versions of a group. Its written traffic is not up to date if the two
    numbers differ.

    :ivar places: the ``places_version`` of the group
    :ivar links: the ``places_version`` for which the traffic was written;
        after a reservation, a random negative number
    """

    group_uuid: str
    places: int
    links: int


class _Full(Exception):
    """An uplink has too little free capacity. The transaction is rolled
    back."""

    def __init__(self, key: str):
        super().__init__(key)
        self.key = key


def key_of(domain: Domain) -> str:
    """The key of the domain's uplink."""
    return hashlib.sha256(json.dumps(
        [domain.level, *domain.path]).encode()).hexdigest()


def reserve(database: Database, group_uuid: str, demand: Demand,
            limits: Demand, replace: bool = False) -> Domain | None:
    """Reserve the traffic of a plan before the plan is accepted.

    On each uplink, the group keeps its previous traffic if this is larger,
    because its members may stay at their places until the plan is accepted.

    :param limits: maximum traffic of all groups together on each uplink
    :param replace: whether the group does not need its previous traffic
    :returns: a domain whose uplink has too little free capacity, and nothing
        is written; None if the traffic is reserved
    """
    domains = {key_of(domain): domain for domain in demand}
    _add_missing(database, domains)
    try:
        _reserve(database, group_uuid,
                 {key_of(each): mbps for each, mbps in demand.items()},
                 {key_of(each): mbps for each, mbps in limits.items()},
                 replace)
    except _Full as full:
        return domains[full.key]
    return None


@retried
def _reserve(database: Database, group_uuid: str, demand: Mapping[str, int],
             limits: Mapping[str, int], replace: bool) -> None:
    with database.writer() as session:
        if not session.execute(
                sa.update(GroupRow).where(GroupRow.uuid == group_uuid)
                .values(uses_links=True,
                        links_version=-random.randint(1, 2**62))
                .execution_options(synchronize_session=False)).rowcount:
            # The group was deleted, and its plan will not be accepted.
            return
        before = _demand(session, group_uuid)
        after = demand if replace else {
            key: max(before.get(key, 0), demand.get(key, 0))
            for key in before.keys() | demand.keys()}
        for key in sorted(before.keys() | demand.keys()):
            old = before.get(key, 0)
            wanted = demand.get(key, 0)
            fits = [LinkRow.mbps <= limits[key] - wanted + old] if (
                wanted and key in limits) else []
            _add(session, key, after.get(key, 0) - old, *fits)
        _write(session, group_uuid, after)


def settle(database: Database, seen: LinksVersion, demand: Demand,
           owned: bool = False) -> bool:
    """Write the traffic of a group whose members are at their places. It is
    not limited, because the members use it already.

    :param seen: versions that were read before the places of the members
    :param owned: whether the caller owns the group's task
    :returns: False if the group has changed since then, or if it has a task
        and the caller does not own it; then nothing is written
    """
    domains = {key_of(domain): domain for domain in demand}
    _add_missing(database, domains)
    return _settle(database, seen, {
        link: demand[domain] for link, domain in domains.items()}, owned)


@retried
def _settle(database: Database, seen: LinksVersion,
            demand: Mapping[str, int], owned: bool) -> bool:
    free = [] if owned else [
        GroupRow.task.is_(None), GroupRow.status != GroupStatus.PLANNING]
    with database.writer() as session:
        if not session.execute(
                sa.update(GroupRow).where(
                    GroupRow.uuid == seen.group_uuid,
                    GroupRow.places_version == seen.places,
                    GroupRow.links_version == seen.links, *free)
                .values(links_version=seen.places)
                .execution_options(synchronize_session=False)).rowcount:
            return False
        before = _demand(session, seen.group_uuid)
        for key in sorted(before.keys() | demand.keys()):
            _add(session, key, demand.get(key, 0) - before.get(key, 0))
        _write(session, seen.group_uuid, demand)
    return True


def forget(session: orm.Session, group_uuid: str) -> None:
    """Remove the reservations of a group that is being deleted."""
    before = _demand(session, group_uuid)
    for key in sorted(before):
        _add(session, key, -before[key])
    if before:
        _write(session, group_uuid, {})


def _add_missing(database: Database, domains: Mapping[str, Domain]) -> None:
    """Insert rows of uplinks that no group has used. They are never
    deleted."""
    with database.reader() as session:
        known = set(session.scalars(sa.select(LinkRow.link).where(
            LinkRow.link.in_(domains)))) if domains else set()
    for key in sorted(domains.keys() - known):
        domain = domains[key]
        try:
            _insert(database, key, [domain.level, *domain.path])
        except Duplicate:
            pass


@retried
def _insert(database: Database, key: str, domain: list[str]) -> None:
    with database.writer() as session:
        session.add(LinkRow(link=key, domain=domain, mbps=0))


def _demand(session: orm.Session, group_uuid: str) -> dict[str, int]:
    return {link: mbps for link, mbps in session.execute(
        sa.select(LinkDemandRow.link, LinkDemandRow.mbps).where(
            LinkDemandRow.group_uuid == group_uuid))}


def _add(session: orm.Session, key: str, mbps: int,
         *fits: sa.ColumnElement[bool]) -> None:
    """Change the total of an uplink.

    :param fits: conditions for the total before the change
    :raises _Full: the total does not satisfy the conditions
    """
    if not mbps and not fits:
        return
    if not session.execute(
            sa.update(LinkRow).where(LinkRow.link == key, *fits)
            .values(mbps=LinkRow.mbps + mbps)
            .execution_options(synchronize_session=False)).rowcount:
        raise _Full(key)


def _write(session: orm.Session, group_uuid: str,
           demand: Mapping[str, int]) -> None:
    session.execute(
        sa.delete(LinkDemandRow).where(
            LinkDemandRow.group_uuid == group_uuid)
        .execution_options(synchronize_session=False))
    rows = [{'group_uuid': group_uuid, 'link': link, 'mbps': mbps}
            for link, mbps in sorted(demand.items()) if mbps]
    if rows:
        session.execute(sa.insert(LinkDemandRow), rows)
