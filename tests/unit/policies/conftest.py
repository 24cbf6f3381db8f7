# SPDX-License-Identifier: Apache-2.0
"""Fixtures that tests of policies share."""

from tests.unit.policies.outside_package import site, types  # noqa: F401
