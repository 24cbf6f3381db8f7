# SPDX-License-Identifier: Apache-2.0
"""A template that is written to another folder still refers to its files."""

import os
from typing import Any

from nova_holistic.documents.hot.type_registry import is_template_file

_GET_FILE = 'get_file'
_TYPE = 'type'


def relocated(template: Any, before: str, after: str,
              files: frozenset[str]) -> Any:
    """The template with its relative files as seen from another folder.

    :param before: folder of the template that was read
    :param after: folder of the template that is written
    :param files: names of files in the new folder
    """
    if isinstance(template, list):
        return [relocated(each, before, after, files) for each in template]
    if not isinstance(template, dict):
        return template
    copy = {}
    for key, value in template.items():
        if _is_file(template, key, value) and value not in files:
            value = os.path.relpath(os.path.join(before, value), after)
        copy[key] = relocated(value, before, after, files)
    return copy


def _is_file(around: dict, key: str, value: Any) -> bool:
    if not isinstance(value, str) or '://' in value or os.path.isabs(value):
        return False
    return (key == _GET_FILE and len(around) == 1) or (
        key == _TYPE and is_template_file(value))
