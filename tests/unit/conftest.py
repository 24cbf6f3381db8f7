# SPDX-License-Identifier: Apache-2.0
"""Settings and fixtures of all unit tests."""

from tests.plan_checks import every_plan_is_checked  # noqa: F401
