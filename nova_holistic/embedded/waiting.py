# SPDX-License-Identifier: Apache-2.0
"""Waiting for what Nova does in the background."""

import time

from nova_holistic import exceptions

TIMEOUT = 300.0
INTERVAL = 0.05


class EmbeddedCloudError(exceptions.HolisticError):
    """The embedded cloud did not carry out a request."""


def wait_for(question, description, timeout=TIMEOUT):
    """The first answer that is not None; sleeping lets the services work.

    :param timeout: seconds
    :raises EmbeddedCloudError: the value is not available within that time
    """
    deadline = time.monotonic() + timeout
    while True:
        answer = question()
        if answer is not None:
            return answer
        if time.monotonic() > deadline:
            raise EmbeddedCloudError(
                f'{description}: not within {timeout:g} seconds')
        time.sleep(INTERVAL)
