# SPDX-License-Identifier: Apache-2.0
"""The violations of a plan document: of its group, or of its inventory."""

from collections.abc import Iterable, Iterator
from typing import TextIO

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Reason
from nova_holistic.picture.scene import violation_text
from nova_holistic.picture.text_fitting import printable
from nova_holistic.solver.check import check


def find(group: Group, snapshot: Snapshot, plan: Plan) -> tuple[Reason, ...]:
    """Every violation; none if the plan is good."""
    return (*_mismatches(group, snapshot, plan),
            *check(group, snapshot, plan.hosts()))


def write(violations: Iterable[Reason], stream: TextIO) -> None:
    """One line for each violation."""
    for reason in violations:
        stream.write(printable(violation_text(reason)) + '\n')


def _mismatches(group: Group, snapshot: Snapshot,
                plan: Plan) -> Iterator[Reason]:
    """Whether the plan belongs to another group or other hosts."""
    if plan.group != group.name:
        yield Reason('', f'the plan belongs to group {plan.group!r}, not '
                         f'{group.name!r}')
    hosts = {host.name: host for host in snapshot.hosts}
    for placement in plan.placements:
        host = hosts.get(placement.host)
        if host is None:
            continue
        # A plan without the key has the name of the host as its node.
        if placement.node not in (host.node, host.name):
            yield Reason(
                placement.member,
                f'host {host.name} has node {host.node}, not '
                f'{placement.node}')
        if placement.location and host.location != placement.location:
            yield Reason(
                placement.member,
                f'host {host.name} is at {"/".join(host.location)}, not at '
                f'{"/".join(placement.location)}')
