# SPDX-License-Identifier: Apache-2.0
"""Databases of the cells in one process, for many concurrent threads."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from nova.context import RequestContext
from nova.objects import CellMapping
from nova.tests.fixtures import CellDatabases

NOT_ENTERED = "generator didn't yield"
"""Message of ``contextlib`` for a context that was not entered."""
ATTEMPTS = 20
"""Maximum number of attempts to enter a context. Each attempt waits up to 3
seconds, so that all of them take as long as Nova's default timeout of a remote
call: 60 seconds."""


class RetryingCellDatabases(CellDatabases):
    """Nova's fixture, with repeated attempts to target a cell.

    All threads share Nova's fixture, which targets one cell at a time. If
    other threads change the cell three times while a thread waits for its
    own, the fixture gives up before it enters the context. A conductor then
    loses its request, and the server remains in BUILD. This class retries.
    """

    def _wrap_target_cell(self, context: RequestContext,
                          cell_mapping: CellMapping | None,
                          ) -> AbstractContextManager[RequestContext]:
        target = super()._wrap_target_cell
        return RetriedContext(lambda: target(context, cell_mapping))


class RetriedContext(AbstractContextManager[RequestContext]):
    """A context that is created again if it was not entered.

    :param make: returns a new context
    """

    def __init__(self, make: Callable[
            [], AbstractContextManager[RequestContext]]):
        self._make = make
        self._made = make()

    def __enter__(self) -> RequestContext:
        """Enter the context, in up to ``ATTEMPTS`` attempts.

        :raises RuntimeError: no attempt entered the context, or one of them
            raised another RuntimeError
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return self._made.__enter__()
            except RuntimeError as error:
                if str(error) != NOT_ENTERED:
                    raise
                self._made = self._make()
        return self._made.__enter__()

    def __exit__(self, *error):
        return self._made.__exit__(*error)
