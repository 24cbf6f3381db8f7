# SPDX-License-Identifier: Apache-2.0
"""A volume of Cinder as a member of a group."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Volume:
    """
    :ivar size_gb: in GiB
    :ivar volume_type: name of a volume type; None is the default type
        of the snapshot, or any type if the snapshot has none
    :ivar at_plan_time: whether an engine creates it after it is planned
    :ivar image: UUID of the image from which an engine creates it; None for an
        empty volume
    """

    size_gb: int
    volume_type: str | None = None
    at_plan_time: bool = False
    image: str | None = None
