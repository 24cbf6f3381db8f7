# SPDX-License-Identifier: Apache-2.0
"""The placement table behaves as a model of it, for any order of the
operations of engines, schedulers and users.

An engine that was killed makes no more calls, and another one takes its task.
A slow engine continues with the rows that it has read. The longer run is::

    NOVA_HOLISTIC_TEST_EFFORT=20 tools/tox.sh -e databases -- -k stateful
"""

from concurrent.futures import ThreadPoolExecutor
import copy
import random
import threading

from hypothesis import stateful, strategies as st
import sqlalchemy as sa

from nova_holistic.table.queries.outlines import OutlineCache
from nova_holistic.table.schema import models
from nova_holistic.table.store import PlacementTable
from tests import effort
from tests.unit.table.builders import NOON
from tests.unit.table.model import Model
from tests.unit.table.operations import Choice
from tests.unit.table.product import Product

RUNS, STEPS = 6, 10
RUNS_AT_ONCE, STEPS_AT_ONCE = 3, 8
READINGS = 4

DRAWN = st.integers(0, 2 ** 32).map(random.Random)
"""One number decides all operations of a step."""


def seconds(moment):
    return None if moment is None else (moment - NOON).total_seconds()


class Machine(stateful.RuleBasedStateMachine):
    """Sequential operations on two connections.

    Each class made by ``machine`` has its own table.
    """

    tables = ()

    def __init__(self):
        super().__init__()
        with self.tables[0].database.writer() as session:
            for each in reversed(models.Base.metadata.sorted_tables):
                session.execute(sa.delete(each))
        # These deletions are not noted.
        self.tables[0].outlines = OutlineCache(self.tables[0].database)
        self.model = Model()
        self.products = [Product(table) for table in self.tables]
        self.choice = Choice()
        self._compare()
        for lease in (None, 60):
            for operation in self.choice.planned_group(lease):
                self._do(operation)

    @stateful.rule(draw=DRAWN, number=st.integers(1, 20))
    def steps(self, draw, number):
        for _ in range(number):
            operation = self.choice.operation(draw)
            if operation is not None:
                self._do(operation, draw.randrange(2))

    def _do(self, operation, number=0):
        expected = operation.do(self.model)
        assert operation.do(self.products[number]) == expected, operation
        self._compare()

    @stateful.rule(length=st.sampled_from([1, 31, 61]))
    def wait(self, length):
        for actor in (self.model, *self.products):
            actor.wait(length)
        assert self.products[0].expired() == self.model.expired()

    def _compare(self):
        """Compare the table with the model. The model learns the IDs of new
        rows."""
        rows = {}
        for uuid in self.choice.groups:
            found = self.tables[0].group_with_members(uuid)
            group = self.model.groups.get(uuid)
            assert (found is None) == (group is None), uuid
            if found is not None:
                record, rows[uuid] = found
                assert shown(record) == expected(group)
                assert [describe(m) for m in rows[uuid]] == described(group)
                for row in rows[uuid]:
                    group.members[row.member.path].id = row.id
        servers = [row.instance_uuid for each in rows.values()
                   for row in each if row.instance_uuid]
        assert len(servers) == len(set(servers))
        self.choice.readings = [rows, *self.choice.readings][:READINGS]
        # The caches equal the result of a new reader.
        assert (self.tables[0].outlines.read()
                == OutlineCache(self.tables[0].database).read())


class Concurrent(Machine):
    """In addition, two concurrent operations, whose outcome is that of one of
    the two orders."""

    @stateful.rule(draw=DRAWN)
    def at_once(self, draw):
        operations = [each for each in (
            self.choice.operation(draw) for _ in range(2)) if each]
        if len(operations) < 2:
            return
        answers = together(operations, self.products)
        for order in ((0, 1), (1, 0)):
            self.model, before = copy.deepcopy(self.model), self.model
            possible = dict((number, operations[number].do(self.model))
                            for number in order)
            if [possible[0], possible[1]] == answers and self._agrees():
                break
            self.model = before
        else:
            raise AssertionError((operations, answers))
        self._compare()

    def _agrees(self):
        try:
            self._compare()
        except AssertionError:
            return False
        return True


def together(operations, products):
    """The results of two operations that begin at the same moment."""
    gate = threading.Barrier(2)

    def run(operation, product):
        gate.wait(60)
        return operation.do(product)

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, operations, products))


def shown(record):
    return (record.status, record.task, record.engine, record.attempts,
            record.revision, seconds(record.engine_at),
            seconds(record.lease_expires_at))


def expected(group):
    return (group.status, group.task, group.engine, group.attempts,
            group.revision, group.engine_at, group.lease)


def describe(row):
    return (row.member.path, row.state, row.hold, row.held, row.place.host,
            row.instance_uuid, row.unwanted)


def described(group):
    return [(path, m.state, m.hold, m.held, m.host, m.instance, m.unwanted)
            for path, m in group.in_order()]


def machine(kind, table):
    """The class of a machine that works on the table's database."""
    url = table.database.engine.url.render_as_string(hide_password=False)
    return type(kind.__name__, (kind,), {
        'tables': (table, PlacementTable(url))})


def test_the_table_behaves_as_the_model(table):
    made = machine(Machine, table)
    stateful.run_state_machine_as_test(
        made, settings=effort.steps(RUNS, STEPS))
    made.tables[1].database.close()


def test_two_operations_at_once_have_the_outcome_of_one_order(table):
    made = machine(Concurrent, table)
    stateful.run_state_machine_as_test(
        made, settings=effort.steps(RUNS_AT_ONCE, STEPS_AT_ONCE))
    made.tables[1].database.close()
