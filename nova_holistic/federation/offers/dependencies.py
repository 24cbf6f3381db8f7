# SPDX-License-Identifier: Apache-2.0
"""The objects that the planners of all requests share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nova_holistic.federation.offers.history import History
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.solver.milp.backend import Backend


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The objects that the planners of all requests share.

    :ivar clock: returns naive UTC
    :ivar timer: returns seconds since an arbitrary time
    :ivar sleep: waits for a number of seconds
    :ivar map_all: like ``map``; may work on several items at the same time
    """

    policy_types: PolicyTypes
    backend: Backend
    history: History
    clock: Callable[[], datetime]
    timer: Callable[[], float]
    sleep: Callable[[float], None]
    map_all: Callable[..., Any] = map
