# SPDX-License-Identifier: Apache-2.0
"""Parts of a group that may be in different clouds."""
