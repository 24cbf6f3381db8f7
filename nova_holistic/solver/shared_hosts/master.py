# SPDX-License-Identifier: Apache-2.0
"""The program that chooses one plan of each part.

Variables: the share of each plan, and for each host that several parts use,
the cost in addition to the costs of the parts alone. Rows: each part has one
plan; the cost of a host is at least each tangent; the members fit on the host;
and two parts of which one closes the host to the other do not both use it. The
dual values of the rows are prices of the hosts.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.milp.growing_basis import GrowingBasis
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.shared_hosts.dive import dive
from nova_holistic.solver.shared_hosts.host_curves import HostCurves
from nova_holistic.solver.shared_hosts.host_prices import HostPrices
from nova_holistic.solver.shared_hosts.part_program import PartProgram

PRIMAL = {'simplex_strategy': 4}
"""Options for the primal simplex method. The last basis remains feasible when
choices are added, so this method starts from a solution."""


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
    :ivar hosts: [choice]: its hosts
    :ivar uses: [choice]: for each of its hosts, the cost without other parts,
        the load, the prices of its members, and the requested amounts
    """

    parts: Sequence[PartProgram]
    curves: HostCurves
    unit: float
    choices: list[Choice] = field(default_factory=list)
    hosts: list[np.ndarray] = field(default_factory=list)
    uses: list[tuple[np.ndarray, ...]] = field(default_factory=list)
    _known: set[tuple] = field(default_factory=set)
    _basis: GrowingBasis = field(default_factory=GrowingBasis)

    def add(self, choice: Choice) -> bool:
        """Add a choice; return whether it was unknown."""
        key = choice.part, frozenset(choice.states.items())
        if key in self._known:
            return False
        self._known.add(key)
        self.choices.append(choice)
        part, states = self.parts[choice.part], [*choice.states.values()]
        hosts = np.array([*choice.states], dtype=np.int64)
        amounts = part.amounts[states]
        self.hosts.append(hosts)
        self.uses.append((
            part.problem.costs[hosts, states],
            (amounts * self.curves.shares[hosts]).sum(axis=1),
            part.values[states], amounts))
        return True

    def relax(self, seconds: float) -> tuple[float, HostPrices] | None:
        """The minimum cost with fractions of choices, and the prices of the
        hosts; None if the time ends."""
        program = _Program(self)
        linear, names = program.linear(False), program.names()
        linear.basis = self._basis.start(*names)
        linear.options = PRIMAL
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
    """The program of the known choices.

    Uses are the hosts of all choices that several parts use.
    """

    def __init__(self, master: Master):
        self._master = master
        number = np.array([each.part for each in master.choices])
        lengths = [len(each) for each in master.hosts]
        column = np.repeat(np.arange(len(number)), lengths)
        host = np.concatenate(master.hosts)
        users, parts = np.divmod(np.unique(
            host * len(master.parts) + number[column]), len(master.parts))
        self._hosts, of, count = np.unique(
            users, return_inverse=True, return_counts=True)
        parts_of: dict[int, list[int]] = {}
        for user, part in zip(users[count[of] > 1].tolist(),
                              parts[count[of] > 1].tolist()):
            parts_of.setdefault(user, []).append(part)
        self._hosts = self._hosts[count > 1]
        shared = np.isin(host, self._hosts)
        self._column = column[shared]
        self._at = np.searchsorted(self._hosts, host[shared])
        self._alone, self._load, self._value, self._amounts = (
            np.concatenate(each)[shared] for each in zip(*master.uses))
        tangents = [master.curves.tangents(each)
                    for each in self._hosts.tolist()]
        self._count = np.array([len(each) for each in tangents],
                               dtype=np.int64)
        self._slope, self._constant = np.array(
            [pair for each in tangents for pair in each]).reshape(-1, 2).T
        # On other hosts, members cost at least their prices anyway.
        self._gains = master.curves.gains[self._hosts]
        closing = {n for n, part in enumerate(master.parts) if part.closes}
        # Only one of these parts uses the host.
        self._pairs = [(user, one, other)
                       for user, those in parts_of.items()
                       for one in those if one in closing
                       for other in those
                       if other != one and (other not in closing
                                            or other > one)]

    def linear(self, whole: bool) -> Linear:
        """The program.

        :param whole: whether the shares of choices are 0 or 1
        """
        master, hosts = self._master, len(self._hosts)
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
        self._add_costs(program)
        self._add_capacity(program)
        self._add_pairs(program)
        return program

    def names(self) -> tuple[list[Hashable], list[Hashable]]:
        """The names of the variables and of the rows, which remain the same
        when choices are added."""
        master, hosts = self._master, self._hosts.tolist()
        return [*range(len(master.choices)), *(
            ('cost', host) for host in hosts)], [
                *range(len(master.parts)),
                *zip(['tangent'] * len(self._slope), np.repeat(
                    self._hosts, self._count).tolist(), self._slope.tolist()),
                *(('members', host)
                  for host in self._hosts[self._gains > 0].tolist()),
                *(('capacity', host, name) for host in hosts
                  for name in master.curves.classes),
                *self._pairs]

    def prices(self, duals: np.ndarray) -> HostPrices:
        """The prices of the hosts.

        :param duals: [row]
        """
        master, hosts = self._master, len(self._hosts)
        classes, parts = len(master.curves.classes), len(master.parts)
        ends = np.cumsum([parts, len(self._slope), (self._gains > 0).sum(),
                          hosts * classes])
        _, tangents, valued, amounts, pairs = np.split(duals, ends)
        members, once = np.zeros((2, hosts))
        uses = np.zeros((hosts, parts))
        # Averages and prices, also if the dual values are slightly wrong.
        at = np.repeat(np.arange(hosts), self._count)
        tangents = np.maximum(0.0, tangents)
        total = np.bincount(at, tangents, hosts)
        slope = np.bincount(at, tangents * self._slope, hosts) / np.where(
            total > 0, total, 1.0)
        members[self._gains > 0] = np.maximum(0.0, valued)
        total = total + members
        scale = np.maximum(total, 1.0)
        for (host, *both), dual in zip(self._pairs, pairs):
            price = max(0.0, -float(dual)) * master.unit
            position = int(np.searchsorted(self._hosts, host))
            once[position] += price
            uses[position, both] += price
        return HostPrices(
            self._hosts, 1.0 - total / scale, members / scale, slope,
            np.maximum(0.0, -amounts).reshape(hosts, classes) * master.unit,
            uses, once)

    def _add_costs(self, program: Linear) -> None:
        """The cost of each host is at least each tangent, and at least the
        prices of its members less the gain. In the latter, a part that costs
        more alone has this cost (see ``host_prices``)."""
        unit, size = self._master.unit, len(self._master.choices)
        tangents = len(self._slope)
        # Each use has one entry for each tangent of its host.
        count = self._count[self._at]
        first = np.cumsum(self._count) - self._count
        use = np.repeat(np.arange(len(count)), count)
        row = first[self._at[use]] + np.arange(len(use)) - np.repeat(
            np.cumsum(count) - count, count)
        program.add(
            np.concatenate((np.arange(tangents), row)),
            np.concatenate((size + np.repeat(np.arange(
                len(self._hosts)), self._count), self._column[use])),
            np.concatenate((np.ones(tangents), (
                self._alone[use] - self._slope[row] * self._load[use])
                / unit)),
            self._constant / unit, np.inf, tangents)
        gaining = np.flatnonzero(self._gains > 0)
        use = np.flatnonzero(self._gains[self._at] > 0)
        program.add(
            np.concatenate((np.arange(len(gaining)), np.searchsorted(
                gaining, self._at[use]))),
            np.concatenate((size + gaining, self._column[use])),
            np.concatenate((np.ones(len(gaining)), np.minimum(
                0.0, self._alone[use] - self._value[use]) / unit)),
            -self._gains[gaining] / unit, np.inf, len(gaining))

    def _add_capacity(self, program: Linear) -> None:
        """The parts on a host take at most its free amounts."""
        free = self._master.curves.free[self._hosts]
        classes = np.arange(free.shape[1])
        program.add(
            (self._at[:, None] * len(classes) + classes).ravel(),
            np.repeat(self._column, len(classes)), self._amounts.ravel(),
            -np.inf, free.ravel(), free.size)

    def _add_pairs(self, program: Linear) -> None:
        """Of two parts of which one closes the host, only one uses it."""
        rows: dict[tuple[int, int], list[int]] = {}
        for row, (host, *both) in enumerate(self._pairs):
            for part in both:
                rows.setdefault((host, part), []).append(row)
        choices = self._master.choices
        entries = [(row, column) for column, host in zip(
            self._column.tolist(), self._hosts[self._at].tolist())
            for row in rows.get((host, choices[column].part), ())]
        if entries:
            row, column = zip(*entries)
            program.add(row, column, np.ones(len(row)), -np.inf, 1.0,
                        len(self._pairs))
