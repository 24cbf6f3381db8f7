# SPDX-License-Identifier: Apache-2.0
"""The counting test finds no contradiction where a plan exists."""

from nova_holistic.model.binding import bind
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.solver.diagnosis.contradiction import contradiction
from nova_holistic.solver.problem.case import Case
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.test_soundness import AtMostOneIn


def _found(policies, hosts):
    wanted = group(
        groups=[group(servers('m', 2), name='a', policies=policies),
                group(servers('m', 2), name='b')],
        relationships=[RelationshipAntiAffinity(
            between=('a', 'b'), level='rack')])
    snapshot = cloud(*hosts)
    return contradiction(Case.of(bind(wanted, snapshot), snapshot, {}))


def test_a_limit_on_one_rack_permits_all_members_in_the_other():
    """Both members of one group are in the rack without a limit."""
    assert _found([AtMostOneIn()], [
        host('h1', 'r1'), host('h2', 'r2')]) is None


def test_a_limit_on_every_rack_leaves_none_for_the_other_group():
    found = _found([AntiAffinity(level='rack')], [
        host('h1', 'r1'), host('h2', 'r2')])
    assert any(isinstance(each.policy, RelationshipAntiAffinity)
               for each in found)
