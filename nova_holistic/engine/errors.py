# SPDX-License-Identifier: Apache-2.0
"""Errors that end an engine's work on a task before the task is done."""

from nova_holistic import exceptions


class OwnershipLost(exceptions.HolisticError):
    """Another engine owns the task now, or the task no longer exists."""


class HoldsLeft(exceptions.HolisticError):
    """Placement does not answer, so unneeded holds cannot be dropped now.

    The task stays, and an engine tries it again."""
