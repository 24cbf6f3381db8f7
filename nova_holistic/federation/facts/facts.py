# SPDX-License-Identifier: Apache-2.0
"""Facts about a child that rarely change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that the operator has configured, or that were read from the
    child.

    A missing fact is None and excludes nothing.

    :ivar zones: names of all availability zones
    :ivar traits: all traits that some host has
    :ivar aggregates: names of all host aggregates
    :ivar largest: resource class to the largest amount of it that one server
        can get on an empty host
    :ivar all_classes: whether ``largest`` contains all resource classes of the
        child
    :ivar flavors: name or id of a flavor to its amounts of resources
    :ivar share_in_use: used share of the capacity of the scarcest resource
        class, from 0 to 1
    :ivar read_at: naive UTC; None: the operator has configured the facts, and
        they do not become out of date
    """

    zones: frozenset[str] | None = None
    traits: frozenset[str] | None = None
    aggregates: frozenset[str] | None = None
    largest: Mapping[str, int] | None = None
    all_classes: bool = True
    flavors: Mapping[str, Mapping[str, int]] = FrozenMapping()
    share_in_use: float | None = None
    read_at: datetime | None = None
