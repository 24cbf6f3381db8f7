# SPDX-License-Identifier: Apache-2.0
"""Time of one select_destinations: of stock Nova, of a looked-up member, and
of a server that is added to an elastic member.

Real Nova and Placement in one process on SQLite, hosts in Nova's and
Placement's databases without a nova-compute for each. Each request is for one
server with alternates, and is sent to a new scheduler that has answered one
request. Hosts are plain, as Nova's fake hypervisor
reports itself, or have the NUMA topology and the CPU traits that libvirt
reports of two sockets with 32 threads each. What is logged at the level and
above goes to a file. --built puts servers of the group into Nova's database,
so that the scheduler has to find out where they are. --parts splits the cost
of looked-up responses, see answer_parts.py.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
import functools
import gc
import logging
import pathlib
import statistics
import sys
import time
import uuid

from nova import context as nova_context
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from oslo_utils import timeutils
import sqlalchemy as sa

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.answer_parts import (  # noqa: E402
    COLLECTION, Parts, RESPONSE)
from nova_holistic.embedded.calls.servers import (  # noqa: E402
    IMAGE, PROJECT, USER)
from nova_holistic.embedded.cloud import EmbeddedCloud  # noqa: E402
from nova_holistic.embedded.host import EmbeddedHost  # noqa: E402
from nova_holistic.table.records import MemberState  # noqa: E402

CPU_TRAITS = tuple(f'HW_CPU_X86_{name}' for name in (
    'AESNI', 'AVX', 'AVX2', 'AVX512BW', 'AVX512CD', 'AVX512DQ', 'AVX512F',
    'AVX512VL', 'BMI', 'BMI2', 'CLMUL', 'F16C', 'FMA3', 'MMX', 'SSE', 'SSE2',
    'SSE3', 'SSE41', 'SSE42', 'SSSE3', 'STIBP', 'VMX'))
LOOKUPS = 16
COUNTED = 15
"""Responses whose statements and calls are counted."""
FLAVOR = 'small'


def group(members):
    """At most half of the members in a rack."""
    return {'name': 'benchmark', 'policies': [
        {'type': 'anti-affinity', 'level': 'rack',
         'max_per_domain': members // 2}],
        'members': [{'name': 'node', 'flavor': FLAVOR, 'count': members}]}


def main():
    arguments = _parser().parse_args()
    print(f'{"hosts":>6} {"topology":<9} {"log":<6} {"answer":<16} '
          f'{"requests":>8} {"median":>9} {"min":>9} {"max":>9}   [ms]')
    medians = {}
    for topology in arguments.topology:
        for number in arguments.hosts:
            costs = measure(number, topology == 'numa', arguments)
            for (level, kind), seconds in costs.items():
                medians[topology, level, number, kind] = (
                    statistics.median(seconds))
                _print_row(number, topology, level, kind, seconds)
    for topology in arguments.topology:
        for level in arguments.log_level:
            _print_ratios(arguments.hosts, topology, level, medians)


def _print_ratios(numbers, topology, level, medians):
    title = f'{topology}, {level}'
    for number in numbers:
        ratio = (medians[topology, level, number, 'stock']
                 / medians[topology, level, number, 'looked up'])
        print(f'{title}: looked up is {ratio:.1f} x faster at {number} hosts')
        ratio = (medians[topology, level, number, 'grown']
                 / medians[topology, level, number, 'looked up'])
        print(f'{title}: grown takes {ratio:.1f} x as long as looked up')
    few, many = min(numbers), max(numbers)
    ratio = (medians[topology, level, many, 'looked up']
             / medians[topology, level, few, 'looked up'])
    print(f'{title}: looked up takes {ratio:.2f} x as long at {many} hosts as '
          f'at {few}')


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+',
                        default=[10, 100, 1000], help='sizes of the cloud')
    parser.add_argument('--topology', nargs='+', choices=('plain', 'numa'),
                        default=['plain', 'numa'],
                        help='topology of the hosts')
    parser.add_argument('--log-level', nargs='+', choices=('INFO', 'DEBUG'),
                        default=['INFO'], help='log level of all loggers')
    parser.add_argument('--members', type=int, default=LOOKUPS,
                        help='members of the group, at least %(default)s')
    parser.add_argument('--built', type=int, default=0,
                        help='members whose servers exist already')
    parser.add_argument('--processor', dest='clock', action='store_const',
                        const=time.process_time, default=time.perf_counter,
                        help='measure the processor time of the process, '
                             'which includes Placement')
    parser.add_argument('--parts', type=int, default=0,
                        help='looked-up responses whose parts are timed')
    parser.add_argument('--stock', type=int, default=5,
                        help='stock requests to time at each size')
    return parser


def _print_row(number, topology, level, kind, seconds):
    median, least, most = (1000 * value for value in (
        statistics.median(seconds), min(seconds), max(seconds)))
    print(f'{number:>6} {topology:<9} {level:<6} {kind:<16} '
          f'{len(seconds):>8} {median:>9.1f} {least:>9.1f} {most:>9.1f}',
          flush=True)


def measure(number, numa, arguments):
    """Seconds of each request, by level of the log and kind."""
    costs = {}
    with EmbeddedCloud(()) as cloud:
        cloud.insert_hosts(_hosts(number, CPU_TRAITS if numa else ()))
        if numa:
            with nova_context.target_cell(
                    nova_context.get_admin_context(),
                    cloud.computes.cell) as context:
                _give_numa_topology(context)
        cloud.create_flavor(FLAVOR, 2, 2048, 10)
        for level in arguments.log_level:
            costs[level, 'looked up'] = _logging_at(
                level, _look_up, cloud, arguments)
            if arguments.parts:
                _logging_at(level, _print_parts, cloud, arguments.parts)
            costs[level, 'grown'] = _logging_at(
                level, _grow, cloud, arguments)
        cloud.restart_scheduler('stock')
        for level in arguments.log_level:
            costs[level, 'stock'] = _logging_at(
                level, _schedule, cloud, arguments)
    return costs


def _logging_at(level, work, *arguments):
    root = logging.getLogger()
    before = root.level
    root.setLevel(level)
    try:
        return work(*arguments)
    finally:
        root.setLevel(before)


def _look_up(cloud, arguments):
    members = arguments.members
    created = cloud.planner.create(
        group(members), project_id=PROJECT, user_id=USER)
    assert created.status == 'planned', created.reasons
    with nova_context.target_cell(nova_context.get_admin_context(),
                                  cloud.computes.cell) as context:
        for number in range(members - arguments.built, members):
            _build(cloud, context, cloud.table.claim(
                created.uuid, f'node-{number}', str(uuid.uuid4()),
                timeutils.utcnow()))
    # One more of each kind fills the scheduler's caches.
    return [_timed(cloud, {'holistic_group': [created.uuid],
                           'holistic_member': [f'node-{index}']},
                   arguments.clock) for index in range(LOOKUPS)][1:]


def _print_parts(cloud, number):
    """Time and count looked-up responses. The first one of each group fills
    caches and is left out."""
    for parts, counted in (Parts(RESPONSE), 0), (Parts(COLLECTION), COUNTED):
        answered = 0
        while answered < number + counted:
            created = cloud.planner.create(
                group(LOOKUPS), project_id=PROJECT, user_id=USER)
            gc.collect()
            for index in range(LOOKUPS):
                answer = _request(cloud, {
                    'holistic_group': [created.uuid],
                    'holistic_member': [f'node-{index}']})
                if not index:
                    answer()
                    continue
                (parts.time if answered < number else parts.count)(answer)
                answered += 1
                if answered == number + counted:
                    break
        print('\n'.join(parts.rows()))


def _grow(cloud, arguments):
    """Creates that find all planned places taken: each gets a further
    server."""
    members = arguments.members
    document = group(members)
    document['members'][0]['count'] = {
        'desired': members, 'max': members + LOOKUPS}
    created = cloud.planner.create(document, project_id=PROJECT, user_id=USER)
    assert created.status == 'planned', created.reasons
    for number in range(members):
        cloud.table.claim(created.uuid, f'node-{number}', str(uuid.uuid4()),
                          timeutils.utcnow())
    return [_timed(cloud, {'holistic_group': [created.uuid],
                           'holistic_member': ['node']},
                   arguments.clock, alternates=False)
            for _ in range(LOOKUPS)][1:]


def _build(cloud, context, row):
    """A server of the member's, as Nova's database has it; and our table."""
    objects.InstanceMapping(
        nova_context.get_admin_context(), instance_uuid=row.instance_uuid,
        cell_mapping=cloud.computes.cell, project_id=PROJECT,
        user_id=USER).create()
    objects.Instance(
        context, uuid=row.instance_uuid, project_id=PROJECT, user_id=USER,
        host=row.place.host, vm_state='active').create()
    assert cloud.table.change_state(
        row.id, [row.state], MemberState.BUILT, timeutils.utcnow())


def _schedule(cloud, arguments):
    return [_timed(cloud, {}, arguments.clock)
            for _ in range(arguments.stock + 1)][1:]


def _hosts(number, traits):
    return [EmbeddedHost(f'cmp-{index:04}', zone='az1', traits=traits,
                         rack=f'r{index % max(5, number // 20)}')
            for index in range(number)]


@main_database.pick_context_manager_writer
def _give_numa_topology(context):
    context.session.execute(sa.update(models.ComputeNode).values(
        numa_topology=objects.NUMATopology(
            cells=[_numa_cell(number) for number in range(2)])._to_json()))


def _numa_cell(number):
    threads = range(32 * number, 32 * number + 32)
    return objects.NUMACell(
        id=number, socket=number, cpuset=set(threads), pcpuset=set(),
        pinned_cpus=set(), memory=262144, cpu_usage=0, memory_usage=0,
        siblings=[{thread, thread + 16} for thread in threads[:16]],
        mempages=[objects.NUMAPagesTopology(
            size_kb=size, total=total, used=0, reserved=0)
            for size, total in ((4, 67108864), (2048, 0), (1048576, 0))],
        network_metadata=objects.NetworkMetadata(
            physnets=set(), tunneled=False))


def _timed(cloud, hints, clock=time.perf_counter, alternates=True):
    """Seconds until the scheduler's manager has answered one request.

    :param alternates: whether the answer must have all alternates
    """
    answer = _request(cloud, hints)
    begin = clock()
    selections = answer()
    seconds = clock() - begin
    assert not alternates or (
        len(selections[0]) == cloud.conf.scheduler.max_attempts)
    return seconds


def _request(cloud, hints):
    """A function that sends a request for one server to the manager."""
    context = nova_context.RequestContext(USER, PROJECT)
    flavor = objects.Flavor.get_by_name(
        nova_context.get_admin_context(), FLAVOR)
    instance = str(uuid.uuid4())
    spec = objects.RequestSpec.from_components(
        context, instance, {'id': IMAGE, 'properties': {}}, flavor, None,
        None, {'scheduler_hints': hints}, None, None,
        security_groups=objects.SecurityGroupList(objects=[]))
    return functools.partial(
        cloud.controllers.scheduler.manager.select_destinations,
        context, spec_obj=spec, instance_uuids=[instance],
        return_objects=True, return_alternates=True)


if __name__ == '__main__':
    main()
