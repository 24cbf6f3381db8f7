# SPDX-License-Identifier: Apache-2.0
"""Plans, holds, updates and releases groups."""
