# SPDX-License-Identifier: Apache-2.0
"""The changes that make a group fit into one of the clouds."""

from collections.abc import Iterable, Mapping
from typing import Any

from nova_holistic.federation.child import Refusal
from nova_holistic.federation.offers.positions import in_parent
from nova_holistic.federation.offers.problem import Problem


def relaxations(problem: Problem,
                answers: Iterable[Any]) -> Mapping[str, Any] | None:
    """The relaxations of the cloud that is closest to a placement.

    A cloud is closer if fewer rules must become preferences, then if a larger
    share of a counted member fits, and then if fewer hosts must be added. The
    first of equal clouds is used.

    :param answers: answers of clouds to requests for the whole group
    :returns: positions refer to the document of the parent. None: no cloud
        has found any relaxations
    """
    found = [(each.child, each.relaxations) for each in answers
             if isinstance(each, Refusal) and each.relaxations is not None]
    if not found:
        return None
    cloud, closest = min(found, key=lambda each: _distance(each[1]))
    return _shown(problem, cloud, closest)


def _distance(found: Mapping[str, Any]) -> tuple[float, float, float]:
    return (
        min((len(each['rules']) for each in found['preferences']),
            default=float('inf')),
        min((1 - each['count'] / max(1, each['instead_of'])
             for each in found['counts']), default=1.0),
        found['hosts']['number'] if found['hosts'] else float('inf'))


def _shown(problem: Problem, cloud: str,
           found: Mapping[str, Any]) -> dict[str, Any]:
    """The relaxations with positions in the parent's document, and with the
    cloud as the outermost level of locations."""
    document = problem.document(problem.whole, cloud)

    def at(each: Mapping[str, Any]) -> dict[str, Any]:
        return {**each, 'position': in_parent(
            problem, cloud, document, each['position'])}

    hosts = found['hosts']
    if hosts and 'added' in hosts:
        hosts = {**hosts, 'added': [
            {**each, 'location': [cloud, *each['location']]}
            for each in hosts['added']]}
    below = found.get('cloud')
    return {
        'preferences': [{**each, 'rules': [at(rule)
                                           for rule in each['rules']]}
                        for each in found['preferences']],
        'counts': [at(each) for each in found['counts']],
        'hosts': hosts, 'undecided': list(found['undecided']),
        'cloud': f'{cloud}/{below}' if below else cloud}
