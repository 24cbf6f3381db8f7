# SPDX-License-Identifier: Apache-2.0
"""A service inside Nova does not start on a Nova that is not supported."""

from nova import version

from nova_holistic import supported


def must_be_supported(conf) -> None:
    """Check the versions of this process before it starts.

    :param conf: with the options of this project
    :raises UnsupportedVersion: this version of Nova is not supported, and
        [holistic] allow_unsupported_nova is not set
    """
    supported.check_nova_version(
        version.version_string(), conf.holistic.allow_unsupported_nova)
    supported.warn_of_python()
