# SPDX-License-Identifier: Apache-2.0
"""Adds the rules of the level of clouds to the program as rows."""

from collections.abc import Collection, Mapping, Sequence

import pulp

from nova_holistic.federation.splitting.cloud_rules import Form, Row
from nova_holistic.federation.splitting.kinds import Kind


class CloudRows:
    """Adds a row for each rule.

    :ivar cost: weighted violations of all preferences
    """

    def __init__(self, problem: pulp.LpProblem, rows: Sequence[Row],
                 clouds: Sequence[str], eligible: Collection[str],
                 numbers: Mapping[tuple[int, str],
                                  tuple[pulp.LpVariable, Kind]]):
        """
        :param clouds: clouds with an offer for a part
        :param eligible: clouds over which members are spread evenly
        :param numbers: (index of a kind, cloud) to the variable for the
            number of its parts in the cloud, and the kind
        """
        self.cost = pulp.LpAffineExpression()
        self._problem = problem
        self._clouds = clouds
        self._all_eligible = eligible
        self._numbers = numbers
        self._used: dict[object, pulp.LpVariable] = {}
        self._new = 0
        add = {Form.TOGETHER: self._together, Form.AT_MOST: self._at_most,
               Form.EVEN: self._even, Form.APART: self._apart,
               Form.NEAR: self._near}
        for index, row in enumerate(rows):
            if row.sides[0]:
                add[row.form](index, row)

    def used(self, cloud: str, row: int | None = None,
             side: int = 0) -> pulp.LpVariable:
        """The variable that is 1 if the cloud has a member of the side, else
        0.

        :param row: index of a row; None: any member of the group
        :param side: index of a side of the row
        """
        key = cloud, row, side
        if key not in self._used:
            used = self._used[key] = self._integer(1)
            some = [variable for (_, c), (variable, kind)
                    in self._numbers.items() if c == cloud and (
                        row is None or (row, side) in kind.rows)]
            for variable in some:
                # A cloud with a part is used.
                self._problem += variable <= variable.upBound * used
            # A cloud without a part is not used.
            self._problem += used <= pulp.lpSum(some)
        return self._used[key]

    def _count(self, cloud: str, row: int) -> pulp.LpAffineExpression:
        """Number of members of the row in the cloud."""
        return pulp.LpAffineExpression(
            [(variable, kind.rows[row, 0]) for (_, c), (variable, kind)
             in self._numbers.items() if c == cloud and (row, 0) in kind.rows])

    def _together(self, index: int, row: Row) -> None:
        used = pulp.lpSum(self.used(c, index) for c in self._clouds)
        further = self._violation(row, len(self._clouds))
        # Every used cloud except the first is a violation.
        self._problem += used - further <= 1

    def _at_most(self, index: int, row: Row) -> None:
        for cloud in self._clouds:
            over = self._violation(row, len(row.sides[0]))
            # No cloud has more members than the maximum.
            self._problem += self._count(cloud, index) - over <= row.most

    def _even(self, index: int, row: Row) -> None:
        members = len(row.sides[0])
        if row.max_skew is not None:
            eligible = row.allowed.intersection(self._all_eligible)
            # If an eligible cloud has no offer, it has no member.
            low = self._integer(
                members if eligible <= set(self._clouds) else 0)
            over = self._violation(row, members)
            for cloud in sorted(eligible.intersection(self._clouds)):
                count = self._count(cloud, index)
                # The largest number exceeds the smallest by max_skew at most.
                self._problem += count >= low
                self._problem += count - low - over <= row.max_skew
        if row.min_clouds:
            short = self._violation(row, row.min_clouds)
            # At least ``min_clouds`` clouds have members.
            self._problem += pulp.lpSum(
                self.used(c, index) for c in self._clouds
            ) + short >= row.min_clouds

    def _apart(self, index: int, row: Row) -> None:
        for cloud in self._clouds:
            both = self._violation(row, 1)
            # At most one side uses the cloud.
            self._problem += (self.used(cloud, index, 0)
                              + self.used(cloud, index, 1) - both <= 1)

    def _near(self, index: int, row: Row) -> None:
        # Every member in another cloud is a violation.
        elsewhere = self._violation(row, len(row.sides[0]))
        self._problem += pulp.lpSum(
            self._count(c, index) for c in self._clouds if c != row.cloud
        ) - elsewhere <= 0

    def _violation(self, row: Row, upper: int) -> pulp.LpVariable | int:
        """The variable for the violation of a rule; 0 if the rule is hard.

        :param upper: maximum violation
        """
        if row.weight is None:
            return 0
        violation = self._integer(upper)
        self.cost += row.weight * violation
        return violation

    def _integer(self, upper: int) -> pulp.LpVariable:
        self._new += 1
        return self._problem.add_variable(
            f'row_{self._new}', 0, upper, pulp.LpInteger)
