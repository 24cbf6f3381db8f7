# SPDX-License-Identifier: Apache-2.0
"""A volume of Cinder as a member of a group."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Volume:
    """
    :ivar size_gb: in GiB
    :ivar volume_type: name of a volume type; None is any
    """

    size_gb: int
    volume_type: str | None = None
