# SPDX-License-Identifier: Apache-2.0
"""All scenarios of crashes, each with each of its points."""

from tests.services.crash import (  # noqa: F401
    boots, growth, moves, scenarios)
from tests.services.crash.scenarios import ALL

IN_EACH_SCENARIO = ('change.written', 'change.held', 'change.accepted')
"""Points that leave something else in each scenario."""

CASES = [(scenario, point) for scenario in ALL for point in scenario.points]
"""Each scenario with each of its points."""

SHORT = [(scenario, point) for scenario, point in CASES
         if point in IN_EACH_SCENARIO or scenario == next(
             first for first, at in CASES if at == point)]
"""Each point once, and some of them in each scenario."""
