# SPDX-License-Identifier: Apache-2.0
"""Members, and nested groups, whose number may change."""
