# SPDX-License-Identifier: Apache-2.0
"""A neighbourhood for plans with many hosts of one member each."""

from nova_holistic.solver.improve.neighbourhood import Neighbourhood, shuffled


class LoneMembers(Neighbourhood):
    """Members that have no other member of the group on their host."""

    name = 'lone-members'

    def suits(self, plan):
        return len(self._alone(plan)) > 1

    def free(self, plan, number, chance):
        return shuffled(self._alone(plan), chance)[:number]

    @staticmethod
    def _alone(plan):
        return [paths[0] for paths in plan.on_host.values()
                if len(paths) == 1]
