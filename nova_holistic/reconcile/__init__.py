# SPDX-License-Identifier: Apache-2.0
"""Reconciles the placement table with Placement and Nova."""
