# SPDX-License-Identifier: Apache-2.0
"""The fewest hard rules that have to become preferences.

Each rule is tried alone. If none is enough, a set is found by deletion: it
starts with all rules, and every rule goes back that the group can keep
(Chinneck and Dravnieks, Locating Minimal Infeasible Constraint Sets in Linear
Programs, ORSA Journal on Computing 3, 1991).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.model.relaxations import AsPreferences, Rule
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.solver.limits.current import relaxations as limits
from nova_holistic.solver.relaxations import softened
from nova_holistic.solver.relaxations.trials import Trials

SETS = 'rules'
"""What is undecided if no set of rules was found or excluded."""


@dataclass(frozen=True, slots=True)
class _Search:
    """One group that is known to have no plan."""

    group: Group
    snapshot: Snapshot

    def fits(self, trials: Trials, dropped: Sequence[Rule]) -> bool | None:
        return trials.fits(softened.without(self.group, dropped),
                           self.snapshot)


def as_preferences(group: Group, snapshot: Snapshot, trials: Trials,
                   reasons: Sequence[Reason]
                   ) -> tuple[tuple[AsPreferences, ...], tuple[str, ...]]:
    """
    :param group: a group that has no plan
    :param reasons: why; rules that they name are tried first
    :returns: what was found, and what is undecided
    """
    search = _Search(group, snapshot)
    found = list(softened.rules(group))
    # A plan that keeps some of the rules is a plan without all of them.
    together = search.fits(trials, found) if found else False
    if together is False:
        return (), ()
    first = trials.part(limits().single_rules_share)
    tried = {rule: search.fits(first, [rule])
             for rule in sorted(found, key=lambda rule: not _is_named(
                 rule, reasons))}
    singles = tuple(AsPreferences((rule,), True) for rule in found
                    if tried[rule])
    undecided = tuple(rule.position for rule in found if tried[rule] is None)
    if singles:
        return singles, undecided
    if not together:
        return (), (*undecided, SETS)
    dropped = _set(search, trials, found)
    # If every single rule is excluded, two rules are the fewest.
    smallest = len(dropped) == 2 and not undecided
    return (AsPreferences(dropped, smallest),), undecided


def _set(search: _Search, trials: Trials,
         found: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules that are enough together, and of which none can be kept as far as
    the time allows to tell.

    :param found: rules that are enough together
    """
    dropped = list(found)
    for rule in reversed(found):
        fewer = [each for each in dropped if each is not rule]
        if search.fits(trials, fewer):
            dropped = fewer
    return tuple(dropped)


def _is_named(rule: Rule, reasons: Sequence[Reason]) -> bool:
    """Whether one of the reasons is about the rule, as far as names tell."""
    return any(reason.at == rule.at or rule.name in reason.message
               for reason in reasons)
