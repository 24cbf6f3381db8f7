# SPDX-License-Identifier: Apache-2.0
"""Components of member classes that depend on each other through policies."""

from nova_holistic.solver.problem.case import Case


def components(case: Case) -> list[frozenset[int]]:
    """For each class, the classes that policies connect with it, itself
    included. Only the free amounts of hosts and the policies of the whole
    group connect different components.
    """
    class_of = case.class_of
    found = [frozenset({c}) for c in range(len(case.classes))]
    for carried in case.policies:
        classes = {class_of[member.path] for member in carried.scope.members
                   if member.path in class_of}
        if not 1 < len(classes) < len(found):
            continue
        merged = frozenset().union(*(found[c] for c in classes))
        for c in merged:
            found[c] = merged
    return found
