# SPDX-License-Identifier: Apache-2.0
"""Kinds that distinguish the members of cohesive sets.

A host takes few members of a cohesive set, so the set becomes one more
resource of hosts. The limit of a host then applies in every cell, and patterns
distinguish these members.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.cohesive_sets import CohesiveSet
from nova_holistic.solver.decomposition.divided_kinds import (
    divided_kinds, Resource)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.rows import Atom
from nova_holistic.solver.problem.rules import Kind as Counted


@dataclass(frozen=True, slots=True, eq=False)
class CohesiveDomains:
    """Domains where a cohesive set may be placed.

    :ivar kinds: mask of the kinds in the cohesive set
    :ivar used: own variables of the cells for the use of each domain
    :ivar inside: [domain, cell]: whether the cell is in the domain
    """

    kinds: np.ndarray
    used: np.ndarray
    inside: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class CohesiveKinds:
    """Kinds that distinguish the members of cohesive sets, and their rules.

    :ivar kinds: members of one kind that are in the same cohesive sets
    :ivar cells: the same rules over these kinds
    :ivar domains: domains of each cohesive set that rules refer to
    """

    kinds: Kinds
    cells: Cells
    domains: tuple[CohesiveDomains, ...] = ()

    @classmethod
    def of(cls, kinds: Kinds, cells: Cells) -> 'CohesiveKinds':
        """Divide the kinds by cohesive sets. The kinds and cells remain
        unchanged if there are no cohesive sets, or if the divided kinds would
        be too many."""
        inside = [tuple(part in each.parts for each in cells.cohesive_sets)
                  for part in range(len(cells.parts.kind))]
        keys = [(int(kind), *where) for kind, where in zip(
            cells.parts.kind, inside)]
        known = {key: number for number, key in enumerate(sorted(set(keys)))}
        if not cells.cohesive_sets or len(known) > limits().cohesive_kinds:
            return cls(kinds, cells)
        fresh = np.array([known[key] for key in keys])
        where = np.array([key[1:] for key in known], dtype=bool)
        return cls(
            _kinds(kinds, cells, known, fresh), _cells(cells, fresh),
            tuple(cohesive
                  for each, kinds_in in zip(cells.cohesive_sets, where.T)
                  for cohesive in _cohesive_domains(cells, each, kinds_in)))


def _kinds(kinds: Kinds, cells: Cells, known: Sequence[tuple],
           fresh: np.ndarray) -> Kinds:
    """The kinds, divided by cohesive sets, with the resources of the sets.

    :param known: old kind of each new kind, and whether it is in each set
    :param fresh: new kind of each part
    """
    parts = [(key[0], []) for key in known]
    for number in {old for old, _ in parts}:
        for member in kinds.kinds[number].members:
            parts[fresh[cells.parts.of[member.path]]][1].append(member)
    inside = np.array([key[1:] for key in known], dtype=np.int64)
    resources = []
    for number, each in enumerate(cells.cohesive_sets):
        in_set = inside[:, number]
        resources.append(Resource(
            f'members of cohesive set {number}', in_set, each.most))
        # Without other members, there is no amount to limit.
        if each.others < kinds.most_on_a_host and not in_set.all():
            resources.append(Resource(
                f'members outside cohesive set {number}', 1 - in_set,
                each.others))
    most = np.min([np.where(each.amounts, each.free, kinds.most_on_a_host)
                   for each in resources], axis=0)
    room = np.minimum(kinds.room[[old for old, _ in parts]], np.minimum(
        most, kinds.most_on_a_host)[:, None])
    return divided_kinds(kinds, parts, room, resources)


def _cells(cells: Cells, fresh: np.ndarray) -> Cells:
    split = np.bincount(fresh)[fresh] > 1
    own = len(cells.index)
    part_sizes = cells.parts.numbers[split]
    return replace(
        cells, parts=replace(cells.parts, kind=fresh, slot=np.where(
            split, np.cumsum(split) - 1, -1)), cohesive_sets=(),
        free=np.concatenate((cells.free[:own], np.repeat(
            part_sizes, cells.count))),
        whole=np.concatenate((cells.whole[:own], np.ones(
            len(part_sizes) * cells.count, dtype=bool))))


def _cohesive_domains(cells: Cells, cohesive_set: CohesiveSet,
                      inside: np.ndarray) -> Iterator[CohesiveDomains]:
    """Yield the domains of the set at one level: of the levels for which rules
    count its domains in use, the level with the fewest such domains."""
    atoms_by_scope: dict[tuple[int, str], list[Atom]] = {}
    for atom in cells.index:
        if atom.kind is Counted.USED and tuple(sorted(
                cells.parts.within[atom.scope])) == cohesive_set.parts:
            atoms_by_scope.setdefault(
                (atom.scope, atom.level), []).append(atom)
    if atoms_by_scope:
        (_, level), atoms = min(
            atoms_by_scope.items(), key=lambda item: len(item[1]))
        index = cells.table.division(level).index
        yield CohesiveDomains(inside,
                              np.array([cells.index[a] for a in atoms]),
                              np.array([cells.domain_of[level]
                                        == index[atom.domain]
                                        for atom in atoms]))
