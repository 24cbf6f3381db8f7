# SPDX-License-Identifier: Apache-2.0
"""Errors of the sources of snapshots."""

from nova_holistic.exceptions import HolisticError


class MissingAdapter(HolisticError):
    """A driver does not have a connection that it needs."""


class ServiceFailed(HolisticError):
    """A service does not answer, refuses a request, or gives an invalid
    answer.

    :ivar service: name of the service, such as ``placement``
    :ivar path: path of the request
    """

    def __init__(self, service: str, path: str, problem: str,
                 method: str = 'GET'):
        """:param method: HTTP method of the request"""
        self.service = service
        self.path = path
        super().__init__(f'{service}: {method} {path}: {problem}')


class ErrorAnswer(ServiceFailed):
    """A service answers a request with an unexpected status. Its other
    requests may succeed."""


class DatabaseFailed(ServiceFailed):
    """Placement's database does not answer, refuses a statement, or does not
    have the expected schema."""

    def __init__(self, problem: str):
        HolisticError.__init__(self, f"Placement's database: {problem}")
        self.service = 'placement'
        self.path = ''
