# SPDX-License-Identifier: Apache-2.0
"""The properties of a request and of a host, and the rules that compare
them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
import enum

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.image import Image


class Status(enum.Enum):
    """How plans take a filter into account, in the terms of the manual."""

    PLANNED = 'planned for'
    LEARNT = 'learnt'
    NOT_APPLICABLE = 'not applicable'


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """The request to Nova when the server of a member is created.

    :ivar flavor: its name; None if the member gives amounts of resources
    :ivar extra_specs: extra specs of the flavor
    :ivar image: None if the member does not name one
    :ivar project_id: None if it is not known
    :ivar traits: traits that its request groups require, including the one
        without a suffix; not those that only the root provider must have
    :ivar volume: whether the server boots from a volume
    :ivar is_anywhere: whether neither the member nor a group around it
        specifies zones or locations
    """

    flavor: str | None = None
    extra_specs: Mapping[str, str] = FrozenMapping()
    image: Image | None = None
    project_id: str | None = None
    traits: frozenset[str] = frozenset()
    volume: bool = False
    is_anywhere: bool = False


@dataclass(frozen=True, slots=True)
class HostFacts:
    """A host with the metadata of its aggregates.

    :ivar metadata: all values of each key, split at commas, as in Nova's
        filters
    :ivar values: all values of each key, unchanged
    """

    host: Host
    metadata: Mapping[str, frozenset[str]]
    values: Mapping[str, frozenset[str]]


Aggregates = Mapping[str, Mapping[str, str]]
"""Metadata of every host aggregate of the cloud, by UUID."""

Admits = Callable[[HostFacts], bool]
"""Whether a host may take the server."""

HostCheck = Callable[[ServerRequest, NovaOptions, Aggregates], Admits | None]
"""Creates the function that checks hosts for one request. Returns None if all
hosts pass, or if the data are not sufficient to decide."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A filter of Nova's scheduler, or a request filter.

    :ivar name: name of the class or function in Nova
    :ivar status: how plans take it into account
    :ivar host_check: None if the rule does not check single hosts
    """

    name: str
    status: Status
    host_check: HostCheck | None = None


def facts_of(hosts: Collection[Host],
             aggregates: Aggregates) -> list[HostFacts]:
    """The facts of each host in the order of the snapshot."""
    known: dict[frozenset[str], tuple[Mapping[str, frozenset[str]],
                                      Mapping[str, frozenset[str]]]] = {}
    found = []
    for host in hosts:
        if host.aggregates not in known:
            own = [aggregates[uuid] for uuid in host.aggregates
                   if uuid in aggregates]
            known[host.aggregates] = _split(own), _values(own)
        found.append(HostFacts(host, *known[host.aggregates]))
    return found


def _split(aggregates: Collection[Mapping[str, str]]
           ) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for metadata in aggregates:
        for key, value in metadata.items():
            found.setdefault(key, set()).update(
                part.strip() for part in value.split(','))
    return {key: frozenset(values) for key, values in found.items()}


def _values(aggregates: Collection[Mapping[str, str]]
            ) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for metadata in aggregates:
        for key, value in metadata.items():
            found.setdefault(key, set()).add(value)
    return {key: frozenset(values) for key, values in found.items()}
