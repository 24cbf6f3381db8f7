# SPDX-License-Identifier: Apache-2.0
"""The longest times that options allow.

Times are added to dates and subtracted from them, and dates have neither years
before 1 nor years after 9999.
"""

MAX_SECONDS = 2 ** 31 - 1
"""68 years."""
MAX_DAYS = 36500
"""A century."""
