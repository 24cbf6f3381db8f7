# SPDX-License-Identifier: Apache-2.0
"""Databases of the cells in one process, also for many concurrent threads."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from nova.context import RequestContext
from nova.objects import CellMapping
from nova.tests.fixtures import CellDatabases

NOT_ENTERED = "generator didn't yield"
"""Message of ``contextlib`` for a context that was not entered."""
ATTEMPTS = 20
"""Each attempt waits up to 3 seconds, and Nova's default limit for one
remote call is 60 seconds."""


class RetryingCellDatabases(CellDatabases):
    """Nova's fixture, which all threads share, points at one cell at a time.

    If other threads change the cell three times while a thread waits for its
    own, Nova's fixture gives up before it enters the context: a conductor
    loses the request, and the server stays in BUILD. This class tries again.
    """

    def _wrap_target_cell(self, context: RequestContext,
                          cell_mapping: CellMapping | None,
                          ) -> AbstractContextManager[RequestContext]:
        target = super()._wrap_target_cell
        return RetriedContext(lambda: target(context, cell_mapping))


class RetriedContext(AbstractContextManager[RequestContext]):
    """A context that is made again if it was not entered."""

    def __init__(self, make: Callable[
            [], AbstractContextManager[RequestContext]]):
        self._make = make
        self._made = make()

    def __enter__(self) -> RequestContext:
        """:raises RuntimeError: the context was never entered"""
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
