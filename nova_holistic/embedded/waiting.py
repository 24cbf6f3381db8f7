# SPDX-License-Identifier: Apache-2.0
"""Waits for the results of Nova's background work."""

import time

from nova_holistic import exceptions

TIMEOUT = 300.0
INTERVAL = 0.05


class EmbeddedCloudError(exceptions.HolisticError):
    """The embedded cloud did not carry out a request."""


def wait_for(question, description, timeout=TIMEOUT):
    """Call a function until it returns a value other than None.

    The services work while this function sleeps.

    :param question: the function
    :param description: expected result, for the message of the error
    :param timeout: seconds
    :returns: the value
    :raises EmbeddedCloudError: the function returns None until the timeout
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
