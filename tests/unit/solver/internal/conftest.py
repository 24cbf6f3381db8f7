# SPDX-License-Identifier: Apache-2.0
"""Fixtures that tests of the solver share with those of policies."""

from tests.unit.policies.outside_package import site, types  # noqa: F401
