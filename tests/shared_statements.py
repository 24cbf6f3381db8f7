# SPDX-License-Identifier: Apache-2.0
"""The import of this module makes all engines of SQLAlchemy share the
statements that they have compiled.

Otherwise each engine compiles all statements again, and many tests create a
table with its engine. Engines share the statements if their dialects have the
same options.
"""

import sqlalchemy as sa
from sqlalchemy import util

_compiled = util.LRUCache(3000)


class _Statements:
    """The compiled statements of engines whose dialects are equal. SQLAlchemy
    uses the dialect itself, which each engine creates, as the first part of
    the key of a statement."""

    def __init__(self, dialect):
        self._kind = type(dialect), repr(sorted(
            (name, value) for name, value in vars(dialect).items()
            if isinstance(value, (int, str, tuple))
            or name in ('_json_serializer', '_json_deserializer')))

    def get(self, key):
        return _compiled.get((self._kind, key[1:]))

    def __setitem__(self, key, statement):
        _compiled[self._kind, key[1:]] = statement

    @staticmethod
    def clear():
        _compiled.clear()


@sa.event.listens_for(sa.Engine, 'engine_connect')
def _share(connection):
    """Called for each connection, when the options of the dialect are known.
    """
    engine = connection.engine
    if type(engine._compiled_cache) is util.LRUCache:
        engine._compiled_cache = _Statements(engine.dialect)
