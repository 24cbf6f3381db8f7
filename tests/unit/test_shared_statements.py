# SPDX-License-Identifier: Apache-2.0
"""Engines of SQLAlchemy share the statements that they have compiled."""

import gc
import json
import weakref

import pytest
import sqlalchemy as sa

import tests.shared_statements  # noqa: F401

ROWS = sa.Table('rows', sa.MetaData(), sa.Column('document', sa.JSON))


@pytest.fixture
def create(tmp_path):
    """A function that creates an engine with the given options, for an empty
    table."""
    engines = []

    def created(**options):
        engine = sa.create_engine(
            f'sqlite:///{tmp_path}/{len(engines)}.sqlite', **options)
        engines.append(engine)
        ROWS.create(engine)
        return engine

    yield created
    for each in engines:
        each.dispose()


def insert(engine, document):
    """Insert a row; returns the compiled statement."""
    with engine.begin() as connection:
        return connection.execute(
            sa.insert(ROWS).values(document=document)).context.compiled


def documents(engine):
    with engine.connect() as connection:
        return [*connection.execute(sa.select(ROWS.c.document)).scalars()]


def test_a_statement_is_compiled_for_the_first_engine_only(create):
    first, second = create(), create()
    assert insert(first, {'n': 1}) is insert(second, {'n': 2})
    assert documents(first) == [{'n': 1}]
    assert documents(second) == [{'n': 2}]


def test_engines_with_other_options_compile_their_own_statements(create):
    plain, marked = create(), create(
        json_serializer=lambda value: json.dumps({'marked': value}))
    assert insert(plain, 1) is not insert(marked, 1)
    assert documents(plain) == [1]
    assert documents(marked) == [{'marked': 1}]


def test_shared_statements_keep_no_engine():
    engine = sa.create_engine('sqlite://')
    ROWS.create(engine)
    insert(engine, 1)
    alive = weakref.ref(engine)
    engine.dispose()
    del engine
    gc.collect()
    assert alive() is None
