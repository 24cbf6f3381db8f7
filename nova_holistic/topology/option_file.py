# SPDX-License-Identifier: Apache-2.0
"""Reads the YAML or JSON document in the file that an option names."""

from pathlib import Path

from nova_holistic.documents.source import text
from nova_holistic.exceptions import HolisticError, InvalidDocument
from nova_holistic.topology.errors import InvalidFile


class UnreadableFile(HolisticError):
    """A file that an option names is missing or unreadable."""


def read_document(path: str, option: str) -> object:
    """The file's content as plain data.

    :param option: the setting that named the file, for the message
    :raises UnreadableFile: no path is set, or the file cannot be read
    :raises InvalidDocument: it is neither YAML nor JSON
    """
    if not path:
        raise UnreadableFile(f'{option} is not set')
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UnreadableFile(
            f'{option}: {path}: {error.strerror}') from error
    try:
        return text.load(content, trusted=True)
    except InvalidDocument as error:
        raise in_file(path, error) from error


def in_file(path: str, error: InvalidDocument) -> InvalidFile:
    """The same error, with the name of the file."""
    return InvalidFile(f'{path}: {error.place}' if error.place else path,
                       error.message, [in_file(path, each)
                                       for each in error.more])
