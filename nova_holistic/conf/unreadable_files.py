# SPDX-License-Identifier: Apache-2.0
"""Errors of configuration files that oslo.config does not convert."""

from collections.abc import Iterator
import contextlib
import traceback

from oslo_config import cfg

_ERRORS = (cfg.ConfigDirNotFoundError, cfg.ConfigFileParseError,
           cfg.ConfigFilesNotFoundError, cfg.ConfigFilesPermissionDeniedError)


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
        converted = _converted(error)
        if converted is None:
            raise
        raise converted from error


def message(error: Exception) -> str | None:
    """The message in one line if the error states that configuration files are
    missing or cannot be read; None for other errors."""
    found = _converted(error) or error
    return ' '.join(str(found).split()) if isinstance(found, _ERRORS) else None


def _converted(error: Exception) -> cfg.ConfigFileParseError | None:
    """The error of oslo.config for an error that it does not convert; None for
    other errors."""
    if not isinstance(error, (OSError, UnicodeDecodeError)):
        return None
    file = _file(error)
    reason = error.strerror if isinstance(error, OSError) else error
    return None if file is None else cfg.ConfigFileParseError(
        file, str(reason))


def _file(error: Exception) -> str | None:
    """The configuration file that was being read. A UnicodeDecodeError does
    not contain its name."""
    for frame, _line in traceback.walk_tb(error.__traceback__):
        parser = frame.f_locals.get('self')
        if isinstance(parser, cfg.ConfigParser):
            return parser.filename
    return None
