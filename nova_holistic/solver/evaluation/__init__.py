# SPDX-License-Identifier: Apache-2.0
"""Counts, costs and checks of policies while members are placed, and the
interpretation of policy rows."""
