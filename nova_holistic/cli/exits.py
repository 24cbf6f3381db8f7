# SPDX-License-Identifier: Apache-2.0
"""Exit codes of the command line."""

PLANNED = GOOD = 0
UNPLACEABLE = BROKEN = 1
BAD_INPUT = 2
"""Input or usage."""
UNKNOWN = 3
"""Time ran out with neither a plan nor a proof that there is none."""
INTERNAL = 70
"""A fault of this program; EX_SOFTWARE of sysexits.h."""
