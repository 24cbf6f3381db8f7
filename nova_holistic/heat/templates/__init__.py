# SPDX-License-Identifier: Apache-2.0
"""The servers that templates define, and the members of a group document that
are derived from them."""
