# SPDX-License-Identifier: Apache-2.0
"""Binds server groups, stacks and existing servers to members of groups."""
