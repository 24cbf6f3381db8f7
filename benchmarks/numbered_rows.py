# SPDX-License-Identifier: Apache-2.0
"""The rows of a cloud of ``numbered_cloud`` in the databases of Placement and
of the placement table, and changes of them.

``python -m benchmarks.numbered_rows PLACEMENT TABLE HOSTS GROUPS MEMBERS``
writes all of them, with the URLs of both databases. It is a separate
process, so that its memory does not count for an engine.
"""

from datetime import datetime, timedelta
import sys

from placement.db.sqlalchemy import models
import sqlalchemy as sa

from benchmarks import numbered_cloud as numbered
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.database import Database
from nova_holistic.table import migration
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow

TOTALS = {'VCPU': 4096, 'MEMORY_MB': 16_777_216, 'DISK_GB': 100_000}
TRAIT = 'HW_CPU_X86_AVX2'
"""Trait of all providers."""
BEFORE = datetime(2026, 1, 1)
"""When all rows were written."""
CHUNK = 1000
WANTED = Requirements(resources=FrozenMapping(numbered.RESOURCES))
CONSUMERS = {'INSTANCE': numbered.server_uuid,
             'HOLISTIC_HOLD': numbered.hold_uuid}


def main(placement, table, *numbers):
    sizes = numbered.Sizes(*map(int, numbers))
    engine = sa.create_engine(placement)
    _write_providers(engine, sizes)
    _write_allocations(engine, sizes)
    migration.upgrade(table)
    own = Database(table).engine
    _write_table(own, sizes)
    for each in engine, own:
        _analyze(each)


def inventories():
    """Inventories of each provider, as Placement shows them."""
    return {name: {
        'total': total, 'reserved': 0, 'min_unit': 1, 'max_unit': total,
        'step_size': 1, 'allocation_ratio': 1.0}
        for name, total in TOTALS.items()}


def allocations(sizes, host):
    """Allocations at the provider of a host, as Placement shows them."""
    return {_consumer(sizes, member): {'resources': dict(numbered.RESOURCES)}
            for member in range(host, sizes.members, sizes.hosts)}


def _analyze(engine):
    """Update the statistics of the database, as it does automatically after
    some time."""
    with engine.connect().execution_options(
            isolation_level='AUTOCOMMIT') as link:
        if engine.dialect.name == 'postgresql':
            link.execute(sa.text('VACUUM ANALYZE'))
            return
        for name in sa.inspect(engine).get_table_names():
            link.execute(sa.text(f'ANALYZE TABLE {name}')).close()


def _write_providers(engine, sizes):
    provider, inventory = (each.__table__ for each in (
        models.ResourceProvider, models.Inventory))
    hosts = [{'id': host + 1, 'uuid': numbered.provider_uuid(host),
              'name': numbered.host_name(host), 'generation': 1,
              'root_provider_id': host + 1} for host in range(sizes.hosts)]
    with engine.begin() as link:
        classes = _ids(link, models.ResourceClass)
        _insert(link, provider, hosts)
        _insert(link, inventory, [
            {'resource_provider_id': host['id'],
             'resource_class_id': classes[name], **inventory}
            for host in hosts for name, inventory in inventories().items()])
        trait = _ids(link, models.Trait)[TRAIT]
        _insert(link, models.ResourceProviderTrait.__table__, [
            {'resource_provider_id': host['id'], 'trait_id': trait}
            for host in hosts])


def _write_allocations(engine, sizes):
    with engine.begin() as link:
        for model, key in ((models.Project, 'external_id'),
                           (models.User, 'external_id'),
                           (models.ConsumerType, 'name')):
            names = (CONSUMERS if key == 'name' else ['somebody'])
            _insert(link, model.__table__, [{key: name} for name in names])
        owner = {'project_id': _ids(link, models.Project)['somebody'],
                 'user_id': _ids(link, models.User)['somebody']}
        kinds = _ids(link, models.ConsumerType)
        for first in range(0, sizes.members, CHUNK):
            chunk = range(first, min(first + CHUNK, sizes.members))
            _allocate(link, [(_consumer(sizes, member),
                              sizes.host_of(member) + 1, kinds[_kind(
                                  sizes, member)]) for member in chunk], owner)


def _kind(sizes, member):
    return 'INSTANCE' if sizes.has_server(member) else 'HOLISTIC_HOLD'


def _consumer(sizes, member):
    return CONSUMERS[_kind(sizes, member)](member)


def _allocate(link, consumers, owner):
    """:param consumers: UUID, id of the provider, and id of the type"""
    classes = _ids(link, models.ResourceClass)
    _insert(link, models.Consumer.__table__, [
        {'uuid': uuid, 'generation': 1, 'consumer_type_id': kind, **owner}
        for uuid, _, kind in consumers])
    _insert(link, models.Allocation.__table__, [
        {'resource_provider_id': provider, 'consumer_id': uuid,
         'resource_class_id': classes[name], 'used': amount}
        for uuid, provider, _ in consumers
        for name, amount in numbered.RESOURCES.items()])


def _write_table(engine, sizes):
    with engine.begin() as link:
        for group in range(sizes.groups):
            record = GroupRecord(
                uuid=numbered.group_uuid(group), name=f'group-{group:05}',
                project_id=numbered.project_of(group), user_id='ann',
                document={'group': {'name': f'group-{group:05}', 'members': [
                    {'name': 'node', 'count': sizes.per_group,
                     'resources': numbered.RESOURCES}], 'policies': [
                    {'type': 'anti-affinity', 'max_per_domain': 10}]}},
                objective='spread', levels=('az', 'rack', 'host'),
                status=(GroupStatus.PLANNED if group % 2
                        else GroupStatus.COMPLETE),
                created_at=BEFORE + timedelta(seconds=group),
                updated_at=BEFORE)
            link.execute(sa.insert(GroupRow), [
                {**rows.group_values(record), 'changed_at': BEFORE}])
            _insert(link, MemberRow, list(_members(sizes, group)))


def _members(sizes, group):
    description = MemberDescription('node', WANTED, sizes.per_group)
    first = group * sizes.per_group
    for position, member in enumerate(description.members('')):
        number = first + position
        host = sizes.host_of(number)
        name, built = numbered.host_name(host), sizes.has_server(number)
        record = MemberRecord(
            id=0, group_uuid=numbered.group_uuid(group), member=member,
            hold=numbered.hold_uuid(number), held=not built,
            place=Place(name, name, numbered.provider_uuid(host),
                        ('az1', numbered.rack_name(host)), ()),
            state=MemberState.BUILT if built else MemberState.PLANNED,
            instance_uuid=numbered.server_uuid(number) if built else None,
            updated_at=BEFORE)
        yield {**rows.member_values(record, position), 'changed_at': BEFORE}


def _ids(link, model):
    name = getattr(model, 'name', None) or model.external_id
    return dict(link.execute(sa.select(name, model.id)).all())


def _insert(link, table, values):
    for first in range(0, len(values), 10 * CHUNK):
        link.execute(sa.insert(table), values[first:first + 10 * CHUNK])


def claim(engines, sizes, members):
    """Servers take the places of planned members, as nova-scheduler and
    Placement write it: each member is claimed, its hold has become the
    server's allocation, and the generation of the provider is higher.

    :param engines: of Placement's database and of the placement table's
    """
    placement, table = engines
    now = datetime.utcnow()
    with placement.begin() as link:
        kinds = _ids(link, models.ConsumerType)
        for member in members:
            hold, server = (make(member) for make in (
                numbered.hold_uuid, numbered.server_uuid))
            link.execute(sa.update(models.Consumer.__table__).where(
                models.Consumer.uuid == hold).values(
                    uuid=server, consumer_type_id=kinds['INSTANCE']))
            link.execute(sa.update(models.Allocation.__table__).where(
                models.Allocation.consumer_id == hold).values(
                    consumer_id=server))
            _raise_generation(link, sizes.host_of(member))
    with table.begin() as link:
        for member in members:
            link.execute(sa.update(MemberRow).where(
                MemberRow.hold == numbered.hold_uuid(member)).values(
                    state=str(MemberState.CLAIMED), held=False,
                    instance_uuid=numbered.server_uuid(member),
                    updated_at=now))


def add_other_servers(placement, numbers, hosts):
    """Allocate servers outside of groups on these hosts."""
    with placement.begin() as link:
        owner = {'project_id': _ids(link, models.Project)['somebody'],
                 'user_id': _ids(link, models.User)['somebody']}
        kind = _ids(link, models.ConsumerType)['INSTANCE']
        _allocate(link, [(numbered.other_server_uuid(number), host + 1, kind)
                         for number, host in zip(numbers, hosts)], owner)
        for host in hosts:
            _raise_generation(link, host)


def _raise_generation(link, host):
    table = models.ResourceProvider
    link.execute(sa.update(table.__table__).where(
        table.id == host + 1).values(generation=table.generation + 1))


if __name__ == '__main__':
    main(*sys.argv[1:])
