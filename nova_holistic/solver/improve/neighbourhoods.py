# SPDX-License-Identifier: Apache-2.0
"""All neighbourhoods, by name."""

from nova_holistic.solver.improve.costliest_hosts import CostliestHosts
from nova_holistic.solver.improve.domains import Domains
from nova_holistic.solver.improve.emptiest_hosts import EmptiestHosts
from nova_holistic.solver.improve.neighbourhood import Neighbourhood
from nova_holistic.solver.improve.random_hosts import RandomHosts
from nova_holistic.solver.improve.random_members import RandomMembers
from nova_holistic.solver.improve.related_scopes import RelatedScopes
from nova_holistic.solver.improve.violated_preferences import (
    ViolatedPreferences)

NEIGHBOURHOODS: dict[str, Neighbourhood] = {each.name: each for each in (
    CostliestHosts(),
    Domains(),
    EmptiestHosts(),
    RandomHosts(),
    RandomMembers(),
    RelatedScopes(),
    ViolatedPreferences(),
)}
