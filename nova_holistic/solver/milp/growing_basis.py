# SPDX-License-Identifier: Apache-2.0
"""The basis of a linear program that grows between its solutions.

The simplex method takes far fewer iterations from the last basis than from
none: new variables are 0, and new rows have no dual value.
"""

from collections.abc import Hashable, Sequence

import highspy

_STATUS = highspy.HighsBasisStatus


class GrowingBasis:
    """The last basis, by names of the variables and rows.

    A program may have further variables and rows, in any order, and lacks none
    of those before.
    """

    def __init__(self) -> None:
        self._variables: dict[Hashable, _STATUS] = {}
        self._rows: dict[Hashable, _STATUS] = {}

    def start(self, variables: Sequence[Hashable],
              rows: Sequence[Hashable]) -> highspy.HighsBasis | None:
        """The basis of a larger program; None if none is known.

        :param variables: [variable]: name
        :param rows: [row]: name
        """
        if not self._rows:
            return None
        found = highspy.HighsBasis()
        found.col_status = [self._variables.get(each, _STATUS.kLower)
                            for each in variables]
        found.row_status = [self._rows.get(each, _STATUS.kBasic)
                            for each in rows]
        found.valid = True
        return found

    def keep(self, variables: Sequence[Hashable], rows: Sequence[Hashable],
             basis: highspy.HighsBasis) -> None:
        """Keep the basis of a solution."""
        self._variables = dict(zip(variables, basis.col_status))
        self._rows = dict(zip(rows, basis.row_status))
