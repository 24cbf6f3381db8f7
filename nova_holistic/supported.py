# SPDX-License-Identifier: Apache-2.0
"""The versions of Nova and of Python that this version works with."""

import re
import sys

from oslo_log import log as logging

from nova_holistic import exceptions

LOG = logging.getLogger(__name__)

NOVA = (32, 34)
"""The oldest and the newest major version of Nova."""
PYTHON = ((3, 11), (3, 13))
"""The oldest and the newest version of Python."""


class UnsupportedVersion(exceptions.HolisticError):
    """This version of Nova is older or newer than those that are supported."""


def check_nova_version(version: str, allowed: bool) -> None:
    """Accept a supported Nova, and log a warning about any other.

    :param version: as Nova states it, such as ``34.0.0``
    :param allowed: whether the operator accepts every version
    :raises UnsupportedVersion: it is not supported, and not every version is
        accepted
    """
    if is_supported_nova(version):
        return
    text = (f'Nova {version} is not supported: this version of nova_holistic '
            f'supports Nova {NOVA[0]} to {NOVA[1]}')
    if not allowed:
        raise UnsupportedVersion(
            f'{text}. Set [holistic] allow_unsupported_nova to start it '
            f'nevertheless')
    LOG.warning('%s. It starts, because [holistic] allow_unsupported_nova is '
                'set', text)


def is_supported_nova(version: str) -> bool:
    """Whether that version of Nova is supported."""
    major = re.match(r'\d+', version)
    return major is not None and NOVA[0] <= int(major[0]) <= NOVA[1]


def is_supported_python(
        version: tuple[int, ...] = sys.version_info[:2]) -> bool:
    """Whether that version of Python is supported, by default this one."""
    return PYTHON[0] <= version[:2] <= PYTHON[1]


def warn_of_python(version: tuple[int, ...] = sys.version_info[:2]) -> None:
    """Log a warning if that version of Python is not supported."""
    if not is_supported_python(version):
        LOG.warning('%s', python_message(version))


def python_message(version: tuple[int, ...] = sys.version_info[:2]) -> str:
    """One sentence about a version of Python that is not supported."""
    oldest, newest, found = ('.'.join(str(part) for part in each[:2])
                             for each in (*PYTHON, version))
    return (f'Python {found} is not supported: this version of nova_holistic '
            f'supports Python {oldest} to {newest}')
