# SPDX-License-Identifier: Apache-2.0
"""Which hosts a policy admits is determined once for a snapshot."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nova_holistic.model.policy import Policy, Violations
from nova_holistic.solver.problem.eligibility import Admission
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.kinds import Kinds
from tests.unit.builders import cloud, group, host, servers

CALLS = []


@dataclass(frozen=True, kw_only=True)
class EvenHosts(Policy):
    """The members are on hosts with an even number."""

    type: ClassVar[str] = 'even-hosts'
    keys: ClassVar[dict] = {}

    def admits(self, host):
        CALLS.append(host.name)
        return int(host.name.removeprefix('h')) % 2 == 0

    def check(self, scope, placement, snapshot):
        return Violations(sum(
            not self.admits(placement[m.path]) for m in scope.members))

    def encode(self, scope, encoder):
        pass


def _room(snapshot):
    wanted = group(servers('m', 3), policies=[EvenHosts()])
    return (Kinds.of(wanted, snapshot, {}).room > 0).tolist()


def test_a_second_phase_does_not_check_the_policy_again():
    CALLS.clear()
    snapshot = cloud(*(host(f'h{n}') for n in range(4)))
    assert _room(snapshot) == _room(snapshot) == [[True, False] * 2]
    assert CALLS == ['h0', 'h1', 'h2', 'h3']


def test_other_hosts_are_not_those_of_the_snapshot():
    """After the question about all hosts, a later snapshot has fewer hosts,
    and a table has a part of them."""
    snapshot = cloud(*(host(f'h{n}') for n in range(4)))
    _room(snapshot)
    assert _room(cloud(*snapshot.hosts[1:])) == [[False, True, False]]
    part = HostTable.of(snapshot).part(np.array([3, 2]))
    assert Admission.of(part)[EvenHosts()].tolist() == [False, True]
