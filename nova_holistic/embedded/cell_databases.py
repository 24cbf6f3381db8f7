# SPDX-License-Identifier: Apache-2.0
"""Databases of the cells in one process, also for many concurrent threads."""

from collections.abc import Iterator
import contextlib

from nova.context import RequestContext
from nova.objects import CellMapping
from nova.tests.fixtures import CellDatabases
import tenacity

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

    @contextlib.contextmanager
    def _wrap_target_cell(self, context: RequestContext,
                          cell_mapping: CellMapping | None,
                          ) -> Iterator[RequestContext]:
        with contextlib.ExitStack() as stack:
            yield self._entered(stack, context, cell_mapping)

    @tenacity.retry(
        retry=tenacity.retry_if_exception_message(NOT_ENTERED),
        stop=tenacity.stop_after_attempt(ATTEMPTS), reraise=True)
    def _entered(self, stack: contextlib.ExitStack, context: RequestContext,
                 cell_mapping: CellMapping | None) -> RequestContext:
        """The context, whose end is added to the stack."""
        return stack.enter_context(
            super()._wrap_target_cell(context, cell_mapping))
