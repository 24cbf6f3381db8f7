# SPDX-License-Identifier: Apache-2.0
"""Nova's hosts at their places in the topology."""

from collections.abc import Iterable

from nova import objects

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.snapshot import Host
from nova_holistic.table.records import Place
from nova_holistic.topology.base import Aggregate, TopologyDriver


def remembered(place: Place) -> Host:
    """A host where it stood when the group was planned."""
    return _host(place.host, place.location, dict(place.labels))


def located(topology: TopologyDriver, name: str,
            aggregates: 'Iterable[objects.Aggregate]') -> Host:
    """A host where it stands now.

    :param aggregates: those that hold the host
    :raises HolisticError: they contradict each other
    """
    # The other hosts of an aggregate say nothing of where this one stands.
    location = topology.locate([name], [
        Aggregate(a.name, a.uuid, frozenset([name]), FrozenMapping(a.metadata))
        for a in aggregates])[name]
    return _host(name, location.path, location.labels)


def looked_up(topology: TopologyDriver, context, name: str) -> Host:
    """A host where it stands now, its aggregates read from Nova's database."""
    return located(
        topology, name, objects.AggregateList.get_by_host(context, name))


def _host(name, location, labels) -> Host:
    return Host(name=name, node=name, uuid='', location=tuple(location),
                inventories=FrozenMapping(), labels=FrozenMapping(labels))
