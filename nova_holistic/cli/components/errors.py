# SPDX-License-Identifier: Apache-2.0
"""Errors of the configuration of connections."""

from nova_holistic import exceptions


class NotConfigured(exceptions.HolisticError):
    """The options of a service are missing or invalid."""
