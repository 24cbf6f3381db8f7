# SPDX-License-Identifier: Apache-2.0
"""Queries and caches of groups and members."""
