# SPDX-License-Identifier: Apache-2.0
"""Required traits that several providers of a host have together, as traits of
a problem without nested providers.

Such a trait exists only in the problem of the solver. A host has it if its
root provider has the real trait, or if another provider has it from which the
member may get a resource outside its request groups.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nova_holistic.model.cloud.member_traits import traits_for
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.trees.demand import ProviderTraits


@dataclass(frozen=True, slots=True)
class JointTraits:
    """
    :ivar names: the name of each trait in the problem, by the requirements and
        the real trait. Error messages contain the names
    """

    names: Mapping[tuple[Requirements, str], str]

    def required(self, wanted: Requirements) -> frozenset[str]:
        """The traits that a member requires in the problem."""
        return frozenset(self.names.get((wanted, trait), trait)
                         for trait in wanted.required_traits)

    def traits(self, host: Host) -> frozenset[str]:
        """The traits of a host in the problem, with the real ones."""
        if not self.names:
            return host.traits
        return host.traits.union(
            name for (wanted, trait), name in self.names.items()
            if trait in traits_for(host, wanted.resources))


def joint_traits(requirements: Collection[Requirements],
                 classes: Collection[str],
                 known: ProviderTraits) -> JointTraits:
    """The traits for the requirements of some members.

    :param classes: the result of ``demand.tree_classes``
    :param known: the providers of the snapshot
    """
    names = {}
    for wanted in requirements:
        used = sorted(name for name, amount in wanted.resources.items()
                      if amount and name in classes)
        for trait in wanted.required_traits & known.traits if used else ():
            names[wanted, trait] = (
                f'{trait} (of the host or of its {" or ".join(used)})')
    return JointTraits(names)
