# SPDX-License-Identifier: Apache-2.0
"""The events of groups, and the deletions of groups."""
