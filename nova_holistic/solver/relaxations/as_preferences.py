# SPDX-License-Identifier: Apache-2.0
"""The smallest set of hard rules that have to become preferences.

Each rule is tried alone. If no single rule is enough, deletion finds a set: it
starts with all rules and removes each rule that can remain hard (Chinneck and
Dravnieks, Locating Minimal Infeasible Constraint Sets in Linear Programs, ORSA
Journal on Computing 3, 1991).
"""

from collections.abc import Callable, Sequence

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.model.relaxations import AsPreferences, Rule
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.relaxations import softened
from nova_holistic.solver.relaxations.trials import Trials

SETS = 'rules'
"""The undecided item if no set of rules was found or excluded."""


def as_preferences(group: Group, snapshot: Snapshot, trials: Trials,
                   reasons: Sequence[Reason]
                   ) -> tuple[tuple[AsPreferences, ...], tuple[str, ...]]:
    """Find hard rules that make the group fit if they become preferences.

    :param group: a group that has no plan
    :param reasons: the reasons; rules that they name are tried first
    :returns: the changes that were found, and the undecided positions
    """
    def fits(within: Trials, dropped: Sequence[Rule]) -> bool | None:
        """Whether the group without these rules fits; None if unknown."""
        return within.fits(softened.without(group, dropped), snapshot)

    found = list(softened.rules(group))
    # A plan that satisfies some of the rules is also a plan without them.
    together = fits(trials, found) if found else False
    if together is False:
        return (), ()
    first = trials.part(limits().main_share)
    tried = {rule: fits(first, [rule])
             for rule in sorted(found, key=lambda rule: not _is_named(
                 rule, reasons))}
    singles = tuple(AsPreferences((rule,), True) for rule in found
                    if tried[rule])
    undecided = tuple(rule.position for rule in found if tried[rule] is None)
    if singles:
        return singles, undecided
    if not together:
        return (), (*undecided, SETS)
    dropped = _set(found, lambda fewer: fits(trials, fewer))
    # If every single rule is excluded, a set of two rules is the smallest.
    smallest = len(dropped) == 2 and not undecided
    return (AsPreferences(dropped, smallest),), undecided


def _set(found: Sequence[Rule], fits: Callable[[list[Rule]], bool | None]
         ) -> tuple[Rule, ...]:
    """A set of rules without which the group fits. Each rule of the set is
    needed, as far as this is proved within the time limit.

    :param found: rules that are enough together
    """
    dropped = list(found)
    for rule in reversed(found):
        fewer = [each for each in dropped if each is not rule]
        if fits(fewer):
            dropped = fewer
    return tuple(dropped)


def _is_named(rule: Rule, reasons: Sequence[Reason]) -> bool:
    """Whether one of the reasons names the rule."""
    return any(reason.at == rule.at or rule.name in reason.message
               for reason in reasons)
