# SPDX-License-Identifier: Apache-2.0
"""Groups of other tests have the sizes that their names state."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.solver.limits.current import limits
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.kinds import Kinds
from tests.unit.policies.outside_package import MANY_HOSTS, MANY_SIZES
from tests.unit.solver.many_answers import questions


@pytest.mark.parametrize('shape', ['middle', 'large'])
def test_a_shape_is_large_if_it_is_named_so(shape):
    for wanted, snapshot, placed, _ in questions(shape):
        kinds = Kinds.of(wanted, snapshot, placed)
        places = int((kinds.room > 0).sum())
        assert (places > limits().phases.large_places) is (
            shape == 'large')


def test_thirty_sizes_on_many_hosts_are_too_large_for_one_program():
    nothing = PolicyTypes(FrozenMapping(), FrozenMapping())
    wanted = parse_group({'name': 'g', 'members': MANY_SIZES}, nothing)
    places = Case.of(wanted, MANY_HOSTS, {}).room
    assert (places > 0).sum() > limits().milp.whole_places
