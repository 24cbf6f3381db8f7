# SPDX-License-Identifier: Apache-2.0
"""All scenarios of crashes with each of their crash points."""

from tests.services.crash import (  # noqa: F401
    boots, growth, moves, scenarios, update_actions)
from tests.services.crash.scenarios import ALL

IN_EACH_SCENARIO = ('change.written', 'change.held', 'change.accepted')
"""Crash points that leave a different state in each scenario."""

CASES = [(scenario, point) for scenario in ALL for point in scenario.points]
"""Each scenario with each of its crash points."""

SHORT = [(scenario, point) for scenario, point in CASES
         if point in IN_EACH_SCENARIO or scenario == next(
             first for first, at in CASES if at == point)]
"""Each crash point once, and some of them in each scenario."""
