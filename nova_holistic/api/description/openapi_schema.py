# SPDX-License-Identifier: Apache-2.0
"""Convert a schema to the dialect of OpenAPI 3.1.

Python's patterns become patterns of ECMA-262. A group document, or a part of
one, is validated elsewhere and becomes a reference to its schema.
"""

from typing import Any

from nova_holistic.api.schemas import documents

GROUP = {'$ref': '#/components/schemas/Group'}
MEMBER = {'$ref': '#/components/schemas/Member'}
ADDED = {'$ref': '#/components/schemas/AddedMember'}
SERVER = {'$ref': '#/components/schemas/Server'}


def openapi_schema(schema: Any) -> Any:
    if schema is documents.GROUP:
        return GROUP
    if schema is documents.MEMBER:
        return ADDED
    if schema is documents.SERVER:
        return SERVER
    if isinstance(schema, list | tuple):
        return [openapi_schema(each) for each in schema]
    if not hasattr(schema, 'items'):
        return schema
    return {key: _pattern(value) if key == 'pattern'
            and isinstance(value, str) else openapi_schema(value)
            for key, value in schema.items()}


def _pattern(text: str) -> str:
    # JSON's text cannot contain surrogates, so the pattern need not exclude
    # them.
    return text.replace(r'\Z', '$').replace(r'\ud800-\udfff', '')
