# SPDX-License-Identifier: Apache-2.0
"""Facts about children that a parent knows without requests."""
