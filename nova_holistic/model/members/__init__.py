# SPDX-License-Identifier: Apache-2.0
"""Members of groups, and what they require."""
