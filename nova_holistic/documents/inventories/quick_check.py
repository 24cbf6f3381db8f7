# SPDX-License-Identifier: Apache-2.0
"""A fast check of large documents against their schema.

The check only accepts documents. The validator checks other documents again
and explains their mistakes. fastjsonschema compiles a schema to code. Unlike
the validator, it accepts 1.0 as an integer.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import fastjsonschema

_DRAFT = 'http://json-schema.org/draft-07/schema#'
"""The newest draft that fastjsonschema supports. The schemas use no later
keyword."""


class QuickCheck:
    """
    :param integers: returns every value that the schema requires to be an
        integer
    """

    def __init__(self, schema: Mapping[str, Any],
                 integers: Callable[[Any], Iterable[Any]]):
        self._accept = fastjsonschema.compile(
            {'$schema': _DRAFT, **schema}, use_default=False,
            detailed_exceptions=False)
        self._integers = integers

    def accepts(self, document: Any) -> bool:
        try:
            self._accept(document)
        except (fastjsonschema.JsonSchemaException, RecursionError):
            return False
        return float not in set(map(type, self._integers(document)))
