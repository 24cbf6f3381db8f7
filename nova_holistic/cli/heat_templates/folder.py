# SPDX-License-Identifier: Apache-2.0
"""Nested templates in the folder of their template, as Heat's client reads
them."""

from collections.abc import Callable
import os
from typing import Any
from urllib.parse import unquote

from nova_holistic.documents.hot.template_files import UnusableFile

_FILE = 'file://'


class Folder:
    """
    :param read: returns the document in a file; raises OSError if the file
        cannot be read, and InvalidDocument if it is not a document
    """

    available = True

    def __init__(self, read: Callable[[str], Any]):
        self._read = read

    def locate(self, name: str, base: str) -> str:
        if name.startswith(_FILE):
            return os.path.relpath(unquote(name.removeprefix(_FILE)))
        if '://' in name:
            return name
        return os.path.relpath(os.path.join(os.path.dirname(base), name))

    def read(self, located: str) -> Any:
        if '://' in located:
            raise UnusableFile('only templates in local files are read')
        if '\0' in located:
            raise UnusableFile('no name of a file contains a null character')
        try:
            return self._read(located)
        except OSError as error:
            raise UnusableFile(error.strerror or str(error)) from error
