# SPDX-License-Identifier: Apache-2.0
"""A request to the API of a child."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """An HTTP request with a JSON body.

    :ivar path: path with its query
    :ivar version: version of the API of nova_holistic
    :ivar body: None: the request has no body
    :ivar headers: further headers
    :ivar wait: seconds that the child may wait before it answers
    """

    method: str
    path: str
    version: str
    body: Any = None
    headers: Mapping[str, str] = FrozenMapping()
    wait: float = 0.0
