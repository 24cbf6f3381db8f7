# SPDX-License-Identifier: Apache-2.0
"""The answer no to a create that has a pointer."""

from nova_holistic import exceptions


class Refused(exceptions.HolisticError):
    """The pointer cannot be honoured; the message says why, to the user."""
