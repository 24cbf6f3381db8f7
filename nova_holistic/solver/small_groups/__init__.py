# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of small groups by dynamic programming over domains."""
