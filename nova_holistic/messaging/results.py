# SPDX-License-Identifier: Apache-2.0
"""The answers of the RPC API of engines."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Released:
    """What a release did.

    :ivar released: paths of members that are free now
    :ivar kept: paths of requested members that belong to a server
    """

    released: tuple[str, ...]
    kept: tuple[str, ...]
