# SPDX-License-Identifier: Apache-2.0
"""Column generation over patterns of members on hosts."""
