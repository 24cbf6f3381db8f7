# SPDX-License-Identifier: Apache-2.0
"""The program that chooses one plan of each part.

Variables: the share of each plan, and for each host that several parts use,
the cost in addition to the costs of the parts alone. Rows: each part has one
plan; the cost of a host is at least each tangent; the members fit on the host;
and two parts of which one closes the host to the other do not both use it. The
dual values of the rows are prices of the hosts.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.milp.growing_basis import GrowingBasis
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.shared_hosts.dive import dive
from nova_holistic.solver.shared_hosts.host_curves import HostCurves
from nova_holistic.solver.shared_hosts.host_prices import HostPrices
from nova_holistic.solver.shared_hosts.part_program import PartProgram

Rows = tuple[list[tuple[int, int, float]], np.ndarray, np.ndarray | float]
"""Entries (row, column, coefficient), lower limits, and upper limits."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One plan of one part.

    :ivar part: index of the part
    :ivar states: host index to its state
    :ivar cost: cost of the objective without the other parts
    """

    part: int
    states: Mapping[int, int]
    cost: float


@dataclass(slots=True, eq=False)
class Master:
    """The known plans of the parts, and the programs that combine them.

    :ivar parts: the dynamic program of each part
    :ivar unit: unit of the costs in the programs, because solvers have
        absolute tolerances
    :ivar choices: the known plans, in the order in which they were added
    """

    parts: Sequence[PartProgram]
    curves: HostCurves
    unit: float
    choices: list[Choice] = field(default_factory=list)
    _known: set[tuple] = field(default_factory=set)
    _basis: GrowingBasis = field(default_factory=GrowingBasis)

    def add(self, choice: Choice) -> bool:
        """Add a choice; return whether it was unknown."""
        key = choice.part, frozenset(choice.states.items())
        if key in self._known:
            return False
        self._known.add(key)
        self.choices.append(choice)
        return True

    def relax(self, seconds: float) -> tuple[float, HostPrices] | None:
        """The minimum cost with fractions of choices, and the prices of the
        hosts; None if the time ends."""
        program = _Program(self)
        linear, names = program.linear(False), program.names()
        linear.basis = self._basis.start(*names)
        outcome, _ = linear.solve(seconds)
        if not outcome.solved or outcome.bound is None:
            return None
        self._basis.keep(*names, linear.basis)
        return outcome.bound * self.unit, program.prices(linear.duals)

    def dive(self, in_time: InTime) -> list[Choice]:
        """At most one choice of each part. The choices fit together and have
        a low total cost. Parts whose choices do not fit have none."""
        program = _Program(self)
        model = program.linear(False).loaded()
        start = self._basis.start(*program.names())
        if start is not None:
            model.setBasis(start)
        # A part costs less than all parts together.
        total = sum(each.cost for each in self.choices) / self.unit
        return [self.choices[number] for number in dive(
            model, np.array([each.part for each in self.choices]), total,
            in_time)]

    def choose(self, seconds: float, gap: float,
               nodes: int) -> list[Choice] | None:
        """One choice of each part, with the lowest total cost that is found;
        None if no combination is found.

        :param seconds: time limit of the program

        :param gap: relative gap at which the search ends
        :param nodes: maximum number of nodes of the search tree
        """
        outcome, values = _Program(self).linear(True).solve(
            seconds, gap, nodes)
        if not outcome.solved:
            return None
        return [self.choices[n] for n in np.flatnonzero(
            values[:len(self.choices)] > 0.5)]


class _Program:
    """The program of the known choices."""

    def __init__(self, master: Master):
        self._master = master
        users: dict[int, set[int]] = {}
        for each in master.choices:
            for host in each.states:
                users.setdefault(host, set()).add(each.part)
        self._users = {host: sorted(parts) for host, parts in users.items()
                       if len(parts) > 1}
        self._position = {host: n for n, host in enumerate(self._users)}
        self._tangents = [(host, *each) for host in self._users
                          for each in master.curves.tangents(host)]
        # On other hosts, members cost at least their prices anyway.
        self._gaining = [host for host in self._users
                         if master.curves.gains[host] > 0]
        closing = {n for n, part in enumerate(master.parts) if part.closes}
        # Only one of these parts uses the host.
        self._pairs = [(host, one, other)
                       for host, parts in self._users.items()
                       for one in parts if one in closing
                       for other in parts
                       if other != one and (other not in closing
                                            or other > one)]

    def linear(self, whole: bool) -> Linear:
        """The program.

        :param whole: whether the shares of choices are 0 or 1
        """
        master, hosts = self._master, len(self._users)
        choices = master.choices
        size = len(choices)
        program = Linear(
            np.array([each.cost / master.unit for each in choices]
                     + [1.0] * hosts),
            np.concatenate((np.ones(size), np.full(hosts, float(
                master.curves.slopes.sum() / master.unit)))),
            np.arange(size + hosts) < size if whole else None)
        program.add([each.part for each in choices], np.arange(size),
                    np.ones(size), 1.0, 1.0, len(master.parts))
        for rows in (self._costs, self._capacity, self._once):
            entries, least, most = rows()
            if len(least):
                row, column, value = zip(*entries)
                program.add(np.array(row), np.array(column), np.array(value),
                            least, most, len(least))
        return program

    def names(self) -> tuple[list[Hashable], list[Hashable]]:
        """The names of the variables and of the rows, which remain the same
        when choices are added."""
        master = self._master
        return [*range(len(master.choices)), *(
            ('cost', host) for host in self._users)], [
                *range(len(master.parts)),
                *(('tangent', host, slope)
                  for host, slope, _ in self._tangents),
                *(('members', host) for host in self._gaining),
                *(('capacity', host, name) for host in self._users
                  for name in master.curves.classes),
                *self._pairs]

    def prices(self, duals: np.ndarray) -> HostPrices:
        """The prices of the hosts.

        :param duals: [row]
        """
        master, hosts = self._master, len(self._users)
        classes, parts = len(master.curves.classes), len(master.parts)
        ends = np.cumsum([parts, len(self._tangents), len(self._gaining),
                          hosts * classes])
        _, tangents, valued, amounts, pairs = np.split(duals, ends)
        members, slope, once = np.zeros((3, hosts))
        uses = np.zeros((hosts, parts))
        # Averages and prices, also if the dual values are slightly wrong.
        total = np.zeros(hosts)
        at = np.array([self._position[host] for host, _, _ in self._tangents],
                      dtype=np.int64)
        tangents = np.maximum(0.0, tangents)
        np.add.at(total, at, tangents)
        np.add.at(slope, at, tangents * [s for _, s, _ in self._tangents])
        slope /= np.where(total > 0, total, 1.0)
        members[[self._position[host] for host in self._gaining]] = (
            np.maximum(0.0, valued))
        total += members
        scale = np.maximum(total, 1.0)
        for (host, *both), dual in zip(self._pairs, pairs):
            price = max(0.0, -float(dual)) * master.unit
            once[self._position[host]] += price
            uses[self._position[host], both] += price
        order = np.argsort([*self._users])
        return HostPrices(*(each[order] for each in (
            np.array([*self._users], dtype=np.int64), 1.0 - total / scale,
            members / scale, slope,
            np.maximum(0.0, -amounts).reshape(hosts, classes) * master.unit,
            uses, once)))

    def _shared(self) -> Iterator[tuple[int, Choice, int, int]]:
        """Each use of a shared host: the column, its choice, the host, and its
        state."""
        for column, each in enumerate(self._master.choices):
            for host, state in each.states.items():
                if host in self._users:
                    yield column, each, host, state

    def _costs(self) -> Rows:
        """The cost of each host is at least each tangent, and at least the
        prices of its members less the gain. In the latter, a part that costs
        more alone has this cost (see ``host_prices``)."""
        master, size = self._master, len(self._master.choices)
        entries = [(row, size + self._position[host], 1.0)
                   for row, (host, _, _) in enumerate(self._tangents)]
        rows: dict[int, list[tuple[int, float]]] = {}
        for row, (host, slope, _) in enumerate(self._tangents):
            rows.setdefault(host, []).append((row, slope))
        row_of = {host: len(self._tangents) + n
                  for n, host in enumerate(self._gaining)}
        entries += [(row, size + self._position[host], 1.0)
                    for host, row in row_of.items()]
        for column, each, host, state in self._shared():
            part = master.parts[each.part]
            alone = float(part.problem.costs[host, state])
            load = float(part.amounts[state] @ master.curves.shares[host])
            entries += [(row, column, (alone - slope * load) / master.unit)
                        for row, slope in rows.get(host, ())]
            if host in row_of:
                entries.append((row_of[host], column, min(
                    0.0, alone - float(part.values[state])) / master.unit))
        least = [constant for _, _, constant in self._tangents] + [
            -float(master.curves.gains[host]) for host in self._gaining]
        return entries, np.array(least) / master.unit, np.inf

    def _capacity(self) -> Rows:
        """The parts on a host take at most its free amounts."""
        master, classes = self._master, len(self._master.curves.classes)
        entries = [
            (self._position[host] * classes + c, column, float(amount))
            for column, each, host, state in self._shared()
            for c, amount in enumerate(
                master.parts[each.part].amounts[state].tolist())]
        return entries, np.full(len(self._users) * classes, -np.inf), (
            master.curves.free[[*self._users]].ravel())

    def _once(self) -> Rows:
        """Of two parts of which one closes the host, only one uses it."""
        rows: dict[tuple[int, int], list[int]] = {}
        for row, (host, *both) in enumerate(self._pairs):
            for part in both:
                rows.setdefault((host, part), []).append(row)
        entries = [(row, column, 1.0)
                   for column, each, host, _ in self._shared()
                   for row in rows.get((host, each.part), ())]
        return entries, np.full(len(self._pairs), -np.inf), 1.0
