# SPDX-License-Identifier: Apache-2.0
"""The final state of a chaos run, read from the databases of the cloud."""

from collections.abc import Mapping
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class FinalState:
    """The rows that the invariants need.

    :ivar groups: groups by UUID
    :ivar members: rows of the placement table
    :ivar allocations: amounts by consumer, host and resource class
    :ivar types: consumer types by consumer
    :ivar servers: servers that Nova has not deleted, by UUID
    :ivar pointers: the group and the member in the hints of a server, by its
        UUID
    :ivar migrations: migrations by UUID
    """

    groups: Mapping[str, dict]
    members: list[dict]
    allocations: Mapping[str, Mapping[str, Counter]]
    types: Mapping[str, str]
    servers: Mapping[str, dict]
    pointers: Mapping[str, tuple[str, str]]
    migrations: Mapping[str, dict]
