# SPDX-License-Identifier: Apache-2.0
"""The results as a table."""

from collections.abc import Iterator, Sequence

from tools.mutants.mutant import Mutant
from tools.mutants.trial import Result, Status


def table(results: Sequence[Result]) -> Iterator[str]:
    """Generate a line for each mutant, a line with its detail, and the totals.
    """
    width = max(len(result.mutant.file) for result in results)
    for result in results:
        yield (f'{result.status:<8}  {result.mutant.file:<{width}}  '
               f'{result.mutant.name}')
        if result.detail:
            yield f'{"":<8}  {"":<{width}}  {_detail(result)}'
    count = {status: sum(result.status == status for result in results)
             for status in Status}
    yield (f'{count[Status.KILLED]} killed, '
           f'{count[Status.SURVIVED]} survived, '
           f'{count[Status.ERROR]} errors')


def listing(mutants: Sequence[Mutant]) -> Iterator[str]:
    """Generate the mutants and their tests, for ``--list``."""
    for mutant in mutants:
        where = f' ({mutant.environment})' if mutant.environment else ''
        yield f'{mutant.package}: {mutant.name}'
        yield f'    {mutant.file}: {" ".join(mutant.tests)}{where}'


def _detail(result: Result) -> str:
    by = 'by ' if result.status == Status.KILLED else ''
    return by + result.detail
