# SPDX-License-Identifier: Apache-2.0
"""The utilisation of a host for a group."""

from collections.abc import Mapping, Sequence

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.members.member import Member


def requested_classes(members: Sequence[Member]) -> tuple[str, ...]:
    """The sorted resource classes that some member requests."""
    return tuple(sorted({
        name for member in members
        for name, amount in member.requirements.resources.items() if amount}))


def utilisation(host: Host, classes: Sequence[str],
                extra: Mapping[str, int] | None = None) -> float:
    """Mean over the classes of the share of the host's capacity in use.

    A number from 0 to 1. A class counts as full if the host does not offer it,
    has no capacity of it, or is over-committed.

    :param extra: amounts by resource class that are added to the host's usage
    """
    if not classes:
        return 0.0
    return sum(_share(host, name, (extra or {}).get(name, 0))
               for name in classes) / len(classes)


def _share(host: Host, name: str, extra: int) -> float:
    inventory = host.inventories.get(name)
    if inventory is None or inventory.capacity <= 0:
        return 1.0
    return min(1.0, (inventory.used + extra) / inventory.capacity)
