# SPDX-License-Identifier: Apache-2.0
"""What is there after a chaos run, as the databases of the cloud say."""

from collections.abc import Mapping
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class FinalState:
    """
    :ivar groups: by UUID
    :ivar members: rows of the placement table
    :ivar allocations: consumer to host to resource class to amount
    :ivar types: consumer to consumer type
    :ivar servers: by UUID, those that Nova has not deleted
    :ivar pointers: UUID of a server to group and member in its hints
    :ivar migrations: by UUID
    """

    groups: Mapping[str, dict]
    members: list[dict]
    allocations: Mapping[str, Mapping[str, Counter]]
    types: Mapping[str, str]
    servers: Mapping[str, dict]
    pointers: Mapping[str, tuple[str, str]]
    migrations: Mapping[str, dict]
