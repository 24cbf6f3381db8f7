# SPDX-License-Identifier: Apache-2.0
"""What holds for all unit tests."""

from tests.plan_checks import every_plan_is_checked  # noqa: F401
