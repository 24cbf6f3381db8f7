# SPDX-License-Identifier: Apache-2.0
"""Searches for alternates within the planner's limits."""

from collections.abc import Callable, Mapping, Sequence

from nova_holistic.metrics.instruments import ALTERNATES_SECONDS
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Settings


def find(conf, group: PlannedGroup, given: Mapping[str, Sequence[str]],
         timer: Callable[[], float]) -> Mapping[str, Sequence[Host]]:
    """Alternates of members by their paths; the best host is first.

    :param conf: options of the planner
    :param given: current alternates of members, by path
    :param timer: returns seconds, to measure durations
    """
    with ALTERNATES_SECONDS.timed():
        found = alternates(
            group, conf.alternates, existing_alternates=given,
            settings=Settings(time_limit=conf.time_limit, timer=timer))
    known = group.snapshot.by_name()
    return {path: tuple(known[name] for name in names)
            for path, names in found.items()}
