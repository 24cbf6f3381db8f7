# SPDX-License-Identifier: Apache-2.0
"""A group with its parts and the children that may take them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nova_holistic.federation.child import Document
from nova_holistic.federation.offers.choice import Set
from nova_holistic.federation.results import Candidate
from nova_holistic.federation.splitting.cloud_view import cloud_group
from nova_holistic.federation.splitting.kinds import Kind, kinds
from nova_holistic.federation.splitting.part_documents import PartDocuments
from nova_holistic.federation.splitting.parts import divide, Division
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.policy_types import PolicyTypes


@dataclass(frozen=True, slots=True)
class Problem:
    """A group, its parts and the candidates.

    :ivar candidates: candidates by the names of their clouds
    :ivar seen: the group with its rules about clouds only
    :ivar kept: path of each member that a cloud already has, to its cloud
    :ivar whole: the set of all parts
    """

    division: Division
    kinds: Sequence[Kind]
    documents: PartDocuments
    candidates: Mapping[str, Candidate]
    seen: Group
    kept: Mapping[str, str] = FrozenMapping()
    whole: Set = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'whole', {
            k: kind.number for k, kind in enumerate(self.kinds)})

    @classmethod
    def of(cls, document: Document, candidates: Sequence[Candidate],
           policy_types: PolicyTypes,
           kept: Mapping[str, str] = FrozenMapping()) -> 'Problem':
        """The problem of a document.

        :raises InvalidDocument: see ``divide``
        """
        division = divide(document, policy_types,
                          [each.name for each in candidates])
        if kept:
            division = replace(division, parts=tuple(
                replace(part, clouds=part.clouds.intersection(
                    *({kept[path]} for path in part.paths if path in kept)))
                for part in division.parts))
        return cls(division, kinds(division), PartDocuments(division),
                   {each.name: each for each in candidates},
                   cloud_group(document, policy_types), kept)

    def document(self, parts: Set, cloud: str) -> Document:
        """The document for a cloud with the first parts of each kind. It has
        no members if the cloud already has all members of these parts."""
        paths = [path for k, number in parts.items()
                 for part in self.kinds[k].parts[:number]
                 for path in part.paths if path not in self.kept]
        if self.kept and not paths:
            return {'name': self.division.group.name}
        return self.documents.document(paths, cloud)

    def may_be_whole_in(self, cloud: str) -> bool:
        """Whether the locations of all members allow this cloud."""
        return all(cloud in kind.clouds for kind in self.kinds)

    def paths(self, sets: Mapping[str, Set]) -> dict[str, tuple[str, ...]]:
        """Cloud to the paths of the members that it takes, in the order of
        the document.

        :param sets: cloud to its parts
        """
        order = {path: i for i, path in enumerate(self.division.paths)}
        taken = [0] * len(self.kinds)
        found: dict[str, tuple[str, ...]] = {}
        for cloud in sorted(sets):
            inside: list[str] = []
            for k, number in sets[cloud].items():
                first = taken[k]
                taken[k] += number
                for part in self.kinds[k].parts[first:taken[k]]:
                    inside.extend(part.paths)
            found[cloud] = tuple(sorted(inside, key=order.__getitem__))
        return found

    def clouds_of(self, sets: Mapping[str, Set]) -> dict[str, str]:
        """Path of each member to its cloud."""
        return {path: cloud for cloud, paths in self.paths(sets).items()
                for path in paths}

    def without_possible_cloud(self) -> Collection[str]:
        """Paths of the first part that no cloud may take; empty: a cloud may
        take each part."""
        return next((kind.parts[0].paths for kind in self.kinds
                     if not kind.clouds), ())
