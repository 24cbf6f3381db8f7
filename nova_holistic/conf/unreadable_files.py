# SPDX-License-Identifier: Apache-2.0
"""Errors of configuration files that oslo.config does not convert."""

from collections.abc import Iterator
import contextlib
import traceback

from oslo_config import cfg


@contextlib.contextmanager
def as_configuration_errors() -> Iterator[None]:
    """Convert the errors of files that oslo.config cannot read.

    oslo.config converts only missing files and missing permissions. Errors
    that do not come from a configuration file are unchanged.

    :raises oslo_config.cfg.ConfigFileParseError: a file is a folder, is not
        text in the encoding of the system, or cannot be read; contains its
        name
    """
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        file = _file(error)
        if file is None:
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise cfg.ConfigFileParseError(file, str(reason)) from error


def _file(error: Exception) -> str | None:
    """The configuration file that was being read. A UnicodeDecodeError does
    not contain its name."""
    for frame, _line in traceback.walk_tb(error.__traceback__):
        parser = frame.f_locals.get('self')
        if isinstance(parser, cfg.ConfigParser):
            return parser.filename
    return None
