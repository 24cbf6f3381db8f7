# SPDX-License-Identifier: Apache-2.0
"""Domains in classes: all domains of one class have equal hosts."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.confined.set_limits import SetLimits
from nova_holistic.solver.decomposition.columns import Columns


@dataclass(frozen=True, slots=True, eq=False)
class DomainClass:
    """Domains with the same host types and the same limits.

    :ivar types: [host]: host type
    :ivar hosts: for each domain, [host]: index of the host, in the order of
        ``types``
    :ivar outside: whether the hosts are in no domain of the level
    :ivar limits: numbers of the limits that contain the first domain; each
        other domain has equal limits
    :ivar shared: those of them that contain several domains
    """

    types: np.ndarray
    hosts: tuple[np.ndarray, ...]
    outside: bool
    limits: tuple[int, ...]
    shared: tuple[int, ...]


def domain_classes(of_host: np.ndarray, columns: Columns,
                   host_types: HostTypes,
                   limits: SetLimits) -> list[DomainClass]:
    """The classes of domains with hosts that can take members. Those with the
    largest numbers of hosts come first.

    :param of_host: [host]: index of its domain; -1 if it is in no domain
    """
    types = host_types.of_host
    domain = of_host[columns.hosts]
    order = np.lexsort((types, domain))
    starts = np.flatnonzero(np.diff(domain[order], prepend=-2))
    parts = np.split(order, starts[1:])
    within = [np.flatnonzero(limits.hosts[:, columns.hosts[part]].all(axis=1))
              for part in parts]
    domains_of = np.bincount(np.concatenate(within),
                             minlength=len(limits.most))
    found: dict[tuple, list[int]] = {}
    for number, part in enumerate(parts):
        # A limit of a single domain is the same as that of another domain if
        # its numbers are equal.
        inside = tuple(sorted(
            (int(each) if domains_of[each] > 1 else -1,
             float(limits.most[each]), tuple(limits.weights[each].tolist()))
            for each in within[number]))
        key = (types[part].tobytes(), bool(domain[part[0]] < 0), inside)
        found.setdefault(key, []).append(number)
    classes = [DomainClass(
        types[parts[numbers[0]]],
        tuple(columns.hosts[parts[number]] for number in numbers),
        outside, tuple(within[numbers[0]].tolist()),
        tuple(each for each in within[numbers[0]].tolist()
              if domains_of[each] > 1))
        for (_, outside, _), numbers in found.items()]
    return sorted(classes, key=lambda each: -len(each.types))
