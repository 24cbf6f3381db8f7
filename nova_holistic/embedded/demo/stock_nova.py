# SPDX-License-Identifier: Apache-2.0
"""Creates servers one by one with stock Nova. Each server gets the best host
at the time of its request, without information about later servers."""

from collections.abc import Sequence
import time

from nova_holistic.embedded.demo.demo_cloud import DemoCloud
from nova_holistic.embedded.demo.outcome import Attempt, Outcome
from nova_holistic.embedded.demo.tiers import Tier


def one_by_one(demo_cloud: DemoCloud, name: str,
               tiers: Sequence[Tier]) -> Attempt:
    """Request every server, each after Nova has finished the one before.

    A server that fails remains in ERROR, and the next one is requested, so
    that as many as possible are created.
    """
    outcomes: list[Outcome] = []
    started = time.monotonic()
    for tier in tiers:
        group = demo_cloud.cloud.create_server_group(
            f'{name}: {tier.path}', tier.policy)
        for member in tier.members:
            server = demo_cloud.request_server(member, hints={'group': group})
            outcomes.append(demo_cloud.outcome(member, server))
    return Attempt(name, tuple(outcomes), time.monotonic() - started)
