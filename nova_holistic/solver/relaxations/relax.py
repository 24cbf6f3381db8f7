# SPDX-License-Identifier: Apache-2.0
"""The smallest changes that make an unplaceable group fit."""

from collections.abc import Sequence

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.model.relaxations import Relaxations
from nova_holistic.solver.relaxations.as_preferences import as_preferences
from nova_holistic.solver.relaxations.lower_counts import lower_counts
from nova_holistic.solver.relaxations.more_hosts import more_hosts
from nova_holistic.solver.relaxations.softened import with_positions
from nova_holistic.solver.relaxations.trials import (
    Constrain, Trials, unconstrained)
from nova_holistic.solver.settings import DEFAULT, Settings

HOSTS = 'hosts'
"""The undecided item if no number of hosts was found or excluded."""


def relax(group: Group, snapshot: Snapshot, *,
          reasons: Sequence[Reason] = (),
          constrain: Constrain = unconstrained,
          settings: Settings = DEFAULT) -> Relaxations:
    """Find changes of three kinds: rules as preferences, lower counts, and
    more hosts. Each change alone makes the group fit.

    :param group: a group that ``solve`` found to be unplaceable
    :param reasons: the reasons that ``solve`` returned
    :param constrain: a function that adds the requirements of the cloud to
        every group
    :param settings: the solver, the time limit and other settings
    :raises InvalidDocument: if a flavor or level is unknown
    """
    trials = Trials.of(constrain, settings)
    group = with_positions(group)
    rules, open_rules = as_preferences(
        group, snapshot, trials.part(1 / 3), reasons)
    counts, open_counts = lower_counts(group, snapshot, trials.part(1 / 2))
    hosts, excluded = more_hosts(group, snapshot, trials)
    return Relaxations(rules, counts, hosts, (
        *open_rules, *open_counts,
        *(() if hosts or excluded else (HOSTS,))))
