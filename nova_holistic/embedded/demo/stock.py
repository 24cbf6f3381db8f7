# SPDX-License-Identifier: Apache-2.0
"""Servers one by one through stock Nova: each is placed as well as can be on
what is there, and none knows of those still to come."""

from collections.abc import Sequence
import time

from nova_holistic.embedded.demo.outcome import Attempt, Outcome
from nova_holistic.embedded.demo.stage import Stage
from nova_holistic.embedded.demo.tiers import Tier


def one_by_one(stage: Stage, name: str,
               tiers: Sequence[Tier]) -> Attempt:
    """Ask for every server, each when the one before has settled.

    A server that fails stays where it is, in ERROR, and the next one is
    asked for: what can be had is had.
    """
    outcomes: list[Outcome] = []
    started = time.monotonic()
    for tier in tiers:
        group = stage.cloud.create_server_group(
            f'{name}: {tier.path}', tier.policy)
        for member in tier.members:
            server = stage.ask(member, server_group=group)
            outcomes.append(stage.outcome(member, server))
    return Attempt(name, tuple(outcomes), time.monotonic() - started)
