# SPDX-License-Identifier: Apache-2.0
"""Converts rows of groups and members to records, and records to column
values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import NONE, RequestGroup
from nova_holistic.table.provider_allocation import ProviderAllocation
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place, Task)
from nova_holistic.table.schema import models

BARE = tuple(column for column in models.MemberRow.__table__.columns
             if column.name not in (
                 'position', 'alternates', 'changed_at',
                 'places_version'))
"""Columns of a member without its alternates, its position, and the columns
that only queries use."""


def group_values(record: GroupRecord) -> dict[str, Any]:
    """Column values of a new row of a group."""
    return {
        'uuid': record.uuid, 'name': record.name,
        'project_id': record.project_id, 'user_id': record.user_id,
        'objective': record.objective, 'created_at': record.created_at,
        'exclusive': record.exclusive, 'revision': record.revision,
        'idempotency_key': record.idempotency_key,
        'fingerprint': record.fingerprint,
        'engine': record.engine, 'engine_at': record.engine_at,
        'attempts': record.attempts, 'asked': record.asked,
        'violations': [
            dict(violation) for violation in record.violations] or None,
        'holds_written': record.holds_written,
        'objective_value': record.objective_value and dict(
            record.objective_value),
        **group_changes({
            'task': record.task, 'pending': record.pending,
            'status': record.status, 'document': record.document,
            'levels': record.levels, 'reasons': record.reasons,
            'lease_expires_at': record.lease_expires_at,
            'updated_at': record.updated_at})}


def group_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a GroupRecord as column values. The lease and the reasons may
    be functions: see ``transitions.change_group``."""
    encode = {'status': str, 'levels': list, 'document': dict,
              'task': lambda task: task and str(task),
              'pending': lambda pending: pending and dict(pending),
              'reasons': lambda reasons: reasons if callable(reasons)
              else [dict(r) for r in reasons],
              'violations': lambda found: [dict(r) for r in found] or None}
    return {name: encode[name](value) if name in encode else value
            for name, value in changes.items()}


def group_record(row: models.GroupRow | sa.Row) -> GroupRecord:
    """The complete record of a group."""
    return replace(light_group_record(row), document=row.document,
                   pending=row.pending)


def light_group_record(row: models.GroupRow | sa.Row) -> GroupRecord:
    """A group without its document and without the parameters of its task."""
    return GroupRecord(
        uuid=row.uuid, name=row.name, project_id=row.project_id,
        user_id=row.user_id, status=GroupStatus(row.status),
        document={}, objective=row.objective,
        levels=tuple(row.levels), reasons=tuple(row.reasons),
        lease_expires_at=row.lease_expires_at, created_at=row.created_at,
        updated_at=row.updated_at, exclusive=row.exclusive,
        revision=row.revision, idempotency_key=row.idempotency_key,
        fingerprint=row.fingerprint,
        task=row.task and Task(row.task), engine=row.engine,
        engine_at=row.engine_at, attempts=row.attempts, asked=row.asked,
        violations=tuple(row.violations or ()),
        holds_written=row.holds_written,
        objective_value=row.objective_value)


def member_values(record: MemberRecord, position: int) -> dict[str, Any]:
    """Column values of a new row of a member. The database assigns the ID."""
    return {
        'group_uuid': record.group_uuid, 'position': position,
        'path': record.member.path,
        'description': record.member.description,
        'requirements': _requirements_values(
            record.member.requirements, record.planned),
        'hold': record.hold, 'held': record.held, 'state': str(record.state),
        'instance_uuid': record.instance_uuid,
        'alternates': alternates_values(record.alternates),
        'updated_at': record.updated_at,
        'destination': _destination(record.destination),
        **_place_columns(record.place)}


def renewed_values(record: MemberRecord) -> dict[str, Any]:
    """Column values of a member that keeps its row and gets another place."""
    values = {**member_values(record, 0), 'unwanted': False,
              'returned': False}
    return {name: values[name] for name in values if name not in (
        'group_uuid', 'position', 'path', 'description')}


def member_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a MemberRecord that may change, as column values."""
    values = dict(changes)
    place = values.pop('place', None)
    if place is not None:
        values.update(_place_columns(place))
    if 'destination' in values:
        values['destination'] = _destination(values['destination'])
    if 'requirements' in values:
        values['requirements'] = _requirements_values(
            values['requirements'], values.pop('planned', None))
    return values


def member_record(row: models.MemberRow | sa.Row) -> MemberRecord:
    """The complete record of a member."""
    return replace(bare_member(row), alternates=places(row.alternates))


def bare_member(row: models.MemberRow | sa.Row) -> MemberRecord:
    """A member without its alternates."""
    return MemberRecord(
        id=row.id, group_uuid=row.group_uuid,
        member=Member(row.path, row.description,
                      _requirements(row.requirements)),
        place=_place({
            'host': row.host, 'node': row.node, 'provider': row.provider,
            'location': row.location, 'labels': row.labels,
            'allocation': row.allocation}),
        hold=row.hold, held=row.held, state=MemberState(row.state),
        instance_uuid=row.instance_uuid, updated_at=row.updated_at,
        unwanted=row.unwanted, returned=row.returned,
        planned=row.requirements.get('planned'),
        destination=destination(row.state, row.destination))


def alternates_values(alternates: Sequence[Place]) -> list[dict[str, Any]]:
    """The column value of alternates."""
    return [_place_values(place) for place in alternates]


def places(values: Sequence[Mapping[str, Any]]) -> tuple[Place, ...]:
    """The alternates in a column value."""
    return tuple(map(_place, values))


def destination(state: str,
                values: Mapping[str, Any] | None) -> Place | None:
    """The place to which Nova is moving a member's server; None if the server
    is not moving.

    Only the server of a built member can move. In another state, the row may
    still contain the destination of a server that was deleted.
    """
    if values is None or state != MemberState.BUILT:
        return None
    return _place(values)


def _destination(place: Place | None) -> dict[str, Any] | None:
    return place and _place_values(place)


def _place_columns(place: Place) -> dict[str, Any]:
    return {'allocation': None, **_place_values(place)}


def _place_values(place: Place) -> dict[str, Any]:
    allocation = {} if place.allocation is None else {
        'allocation': place.allocation.to_placement()}
    return {'host': place.host, 'node': place.node,
            'provider': place.provider, 'location': list(place.location),
            'labels': [list(label) for label in place.labels], **allocation}


def _place(values: Mapping[str, Any]) -> Place:
    return Place(
        values['host'], values['node'], values['provider'],
        tuple(values['location']),
        tuple((key, value) for key, value in values['labels']),
        values.get('allocation') and ProviderAllocation.from_placement(
            values['allocation']))


def _requirements_values(wanted: Requirements,
                         planned: Mapping[str, int] | None = None
                         ) -> dict[str, Any]:
    others = {} if planned is None else {'planned': dict(planned)}
    return {**others,
            'resources': dict(wanted.resources), 'flavor': wanted.flavor,
            'required_traits': sorted(wanted.required_traits),
            'forbidden_traits': sorted(wanted.forbidden_traits),
            'availability_zone': wanted.availability_zone,
            'aggregates': sorted(wanted.aggregates),
            'location': list(wanted.location),
            'boot_from_volume': wanted.boot_from_volume,
            'server_group': wanted.server_group,
            **_group_values(wanted)}


def _requirements(values: Mapping[str, Any]) -> Requirements:
    return Requirements(
        resources=FrozenMapping(values['resources']),
        flavor=values['flavor'],
        required_traits=frozenset(values['required_traits']),
        forbidden_traits=frozenset(values['forbidden_traits']),
        availability_zone=values['availability_zone'],
        aggregates=frozenset(values['aggregates']),
        location=tuple(values['location']),
        # Rows of earlier releases do not have these keys.
        boot_from_volume=values.get('boot_from_volume', False),
        server_group=values.get('server_group'),
        request_groups=tuple(
            RequestGroup(item['suffix'], FrozenMapping(item['resources']),
                         frozenset(item['required_traits']),
                         frozenset(item['forbidden_traits']))
            for item in values.get('request_groups', ())),
        group_policy=values.get('group_policy', NONE),
        same_subtree=tuple(map(
            frozenset, values.get('same_subtree', ()))))


def _group_values(wanted: Requirements) -> dict[str, Any]:
    """The values of the request groups; empty if the member has none."""
    if not wanted.request_groups:
        return {}
    return {'group_policy': wanted.group_policy, 'request_groups': [
        {'suffix': each.suffix, 'resources': dict(each.resources),
         'required_traits': sorted(each.required_traits),
         'forbidden_traits': sorted(each.forbidden_traits)}
        for each in wanted.request_groups],
        'same_subtree': [sorted(each) for each in wanted.same_subtree]}
