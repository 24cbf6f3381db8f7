# SPDX-License-Identifier: Apache-2.0
"""Errors of a source while a snapshot is taken."""

from nova_holistic.exceptions import HolisticError


class MissingAdapter(HolisticError):
    """A driver was not given the connection it needs."""


class ServiceFailed(HolisticError):
    """A service does not answer, refuses a request, or gives an invalid
    answer.

    :ivar service: its name, as in ``placement``
    :ivar path: path of the request
    """

    def __init__(self, service: str, path: str, problem: str):
        self.service = service
        self.path = path
        super().__init__(f'{service}: GET {path}: {problem}')


class DatabaseFailed(ServiceFailed):
    """Placement's database does not answer, refuses, or is not as expected."""

    def __init__(self, problem: str):
        HolisticError.__init__(self, f"Placement's database: {problem}")
        self.service = 'placement'
        self.path = ''
