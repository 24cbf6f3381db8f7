# SPDX-License-Identifier: Apache-2.0
"""Placement's part of a looked-up response, and the scheduler's own part.

Placement's part is the ``POST /allocations`` with its HTTP client. The own
part is everything else. The processor time is that of the thread, which also
runs Placement. Garbage is not collected during a response. A collection reads
all objects of the process. The caches of the processor then no longer contain
the data of the next response, which takes longer than a response that follows
another response. Both are timed.
"""

import contextlib
import gc
import statistics
import sys
import time

from nova_holistic.holds.client import HoldClient
from tests.statements import recorded

COLLECTION, RESPONSE = 'collection', 'response'


class Parts:
    """
    :ivar own: processor seconds of the scheduler, of each response
    :ivar post: processor seconds of the POST, of each response
    :ivar statements: SQL statements of the own part, of each response
    :ivar calls: calls of Python functions in the own part, of each response
    """

    def __init__(self, after: str = COLLECTION):
        """:param after: what precedes each response, ``COLLECTION`` or
        ``RESPONSE``"""
        self._after = after
        self.own, self.post, self.statements, self.calls = [], [], [], []
        self._in_post = self._called = self._sent = 0
        self._posts = False

    def time(self, answer):
        """Add the processor time of one response."""
        if self._after == COLLECTION:
            gc.collect()
        gc.disable()
        self._in_post = 0
        begin = time.thread_time()
        try:
            with self._marked():
                answer()
        finally:
            gc.enable()
        self.post.append(self._in_post)
        self.own.append(time.thread_time() - begin - self._in_post)

    def count(self, answer):
        """Add the statements and the calls of one response."""
        self._called = self._sent = 0
        with recorded(before=self._note_statement), self._marked():
            sys.setprofile(self._note_call)
            try:
                answer()
            finally:
                sys.setprofile(None)
        self.statements.append(self._sent)
        self.calls.append(self._called)

    def rows(self):
        """Lines of a table."""
        for name, values in (('own', self.own), ('POST', self.post)):
            first, median, _ = (1000 * each for each
                                in statistics.quantiles(values, n=4))
            yield (f'{name:<4} part after a {self._after:<10}, processor ms: '
                   f'least {1000 * min(values):.2f}, first quartile '
                   f'{first:.2f}, median {median:.2f} of {len(values)}')
        if self.calls:
            yield (f'own part: {statistics.median(self.statements)} '
                   f'statements, {statistics.median(self.calls)} calls of '
                   f'Python functions (medians of {len(self.calls)})')

    def _note_call(self, _frame, event, _argument):
        self._called += event == 'call' and not self._posts

    def _note_statement(self, _text):
        self._sent += not self._posts

    @contextlib.contextmanager
    def _marked(self):
        """Note when a response is in its POST."""
        swap = HoldClient.swap

        def marked(*args, **kwargs):
            begin, self._posts = time.thread_time(), True
            try:
                return swap(*args, **kwargs)
            finally:
                self._posts = False
                self._in_post += time.thread_time() - begin

        HoldClient.swap = marked
        try:
            yield
        finally:
            HoldClient.swap = swap
