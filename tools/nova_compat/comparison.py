# SPDX-License-Identifier: Apache-2.0
"""The comparison of the outcomes of each test on both managers."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from tools.nova_compat.outcome import NOT_RUN, Outcome
from tools.nova_compat.pool import Results
from tools.nova_compat.worker import HOLISTIC, STOCK

REPEATS = 3
"""Number of repetitions of a test that fails or whose outcomes differ."""
_FAILURES = ('failed', 'error')


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcomes of all tests on both managers.

    :ivar tests: IDs of all tests
    :ivar results: the outcomes of the first run
    :ivar differing: tests whose outcomes differ, which is a defect of this
        project
    :ivar unsteady: tests whose outcomes were equal in every repetition, but
        not always the same
    :ivar repeated: outcomes of both managers in each repetition of a test
    """

    tests: Sequence[str]
    results: Results
    differing: Set[str] = frozenset()
    unsteady: Set[str] = frozenset()
    repeated: Mapping[str, Sequence[tuple[str, str]]] = field(
        default_factory=dict)

    def of(self, test: str) -> tuple[Outcome, Outcome]:
        """Return the outcomes of a test on stock Nova and on this project."""
        stock, holistic = (
            self.results[manager].get(test) or Outcome(test, NOT_RUN)
            for manager in (STOCK, HOLISTIC))
        return stock, holistic

    @property
    def not_passed(self) -> Sequence[str]:
        """Tests that have the same outcome on both managers, but did not pass.
        """
        return [test for test in self.tests
                if test not in self.differing and test not in self.unsteady
                and self.of(test)[0].outcome != 'passed']


def compare(tests: Sequence[str], results: Results,
            repeat: Callable[[Set[str]], Results]) -> Comparison:
    """Compare the outcomes of all tests.

    Some of Nova's tests depend on the speed of the machine. A test whose
    outcomes differ, or that fails on both managers, is therefore repeated on
    both. It counts as differing unless its outcomes are equal in each
    repetition. A test that was not run counts as differing, regardless
    of the other outcome.

    :param repeat: runs some of the tests again on both managers
    """
    first = Comparison(tests, results)
    suspects = {test for test in tests if _differs(*first.of(test))
                or first.of(test)[0].outcome in _FAILURES}
    differing: set[str] = set()
    repeated: dict[str, list[tuple[str, str]]] = {}
    for _ in range(REPEATS):
        if not suspects - differing:
            break
        again = Comparison(tests, repeat(suspects - differing))
        for test in sorted(suspects - differing):
            pair = again.of(test)
            repeated.setdefault(test, []).append(
                (pair[0].outcome, pair[1].outcome))
            if _differs(*pair):
                differing.add(test)
    unsteady = {test for test in suspects - differing if len({
        (first.of(test)[0].outcome, first.of(test)[1].outcome),
        *repeated[test]}) > 1}
    return Comparison(tests, results, differing, unsteady, repeated)


def _differs(stock: Outcome, holistic: Outcome) -> bool:
    return stock.outcome != holistic.outcome or NOT_RUN in (
        stock.outcome, holistic.outcome)
