# SPDX-License-Identifier: Apache-2.0
"""Helpers for scenarios: ``plan(two_racks(), web).uses('r1h1', 'r2h1')``."""

from nova_holistic.model.plan import Plan
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve


class Planned:
    """A plan that has passed the independent check."""

    def __init__(self, snapshot, answer):
        self.answer = answer
        self.objective = answer.objective
        self.hosts = answer.hosts()
        self._snapshot = {h.name: h for h in snapshot.hosts}

    def uses(self, *names):
        """Assert that the members are on exactly these hosts."""
        assert sorted(set(self.hosts.values())) == sorted(names)

    def racks(self):
        """Return the numbers of members in each rack with members, ascending.
        """
        found = {}
        for name in self.hosts.values():
            rack = self._snapshot[name].location[-1]
            found[rack] = found.get(rack, 0) + 1
        return sorted(found.values())


def plan(snapshot, group, **options):
    """Solve, and assert that the answer is a plan that passes the check."""
    answer = solve(group, snapshot, **options)
    assert isinstance(answer, Plan), answer
    assert check(group, snapshot, answer.hosts(),
                 options.get('placed', {})) == ()
    return Planned(snapshot, answer)


def reasons(snapshot, group, **options):
    """Return why no plan exists: {at: messages, one per line}."""
    answer = solve(group, snapshot, **options)
    found = {}
    for reason in answer.reasons:
        found.setdefault(reason.at, []).append(reason.message)
    return {at: '\n'.join(messages) for at, messages in found.items()}
