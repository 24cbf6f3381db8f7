# SPDX-License-Identifier: Apache-2.0
"""Rebuilds the groups of a parent that has lost its database, from the groups
in its children."""
