# SPDX-License-Identifier: Apache-2.0
"""The rules that documents may name."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship


@dataclass(frozen=True, slots=True)
class PolicyTypes:
    """Types of policies and of relationships, by the names documents use."""

    policies: Mapping[str, type[Policy]]
    relationships: Mapping[str, type[Relationship]] = FrozenMapping()
