# SPDX-License-Identifier: Apache-2.0
"""Limits of the number of members that use the provider trees of hosts."""

from collections.abc import Mapping
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.policy import Encoder, Policy, Violations


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberLimits(Policy):
    """Some hosts hold no more than a number of certain members.

    A problem of the solver contains it. Documents cannot. As a resource class,
    the limits would change the utilisation of hosts, and thus the objective.

    :ivar paths: paths of these members
    :ivar most: host name to the maximum number of these members
    """

    type: ClassVar[str] = 'member limits'
    keys: ClassVar[Mapping[str, Any]] = {}
    counts_servers: ClassVar[bool] = False

    paths: frozenset[str]
    most: Mapping[str, int]

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        held = Counter(host.name for path, host in placement.items()
                       if path in self.paths)
        return Violations(sum(
            max(0, held[name] - most) for name, most in self.most.items()))

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        limited = replace(scope, members=tuple(
            each for each in scope.members if each.path in self.paths))
        for host in encoder.snapshot.hosts:
            if host.name in self.most:
                # The host holds no more than its limit.
                encoder.require(encoder.among(limited, [host])
                                <= self.most[host.name])
