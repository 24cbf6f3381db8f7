# SPDX-License-Identifier: Apache-2.0
"""Exit codes of the command line."""

PLANNED = GOOD = 0
UNPLACEABLE = BROKEN = 1
BAD_INPUT = 2
"""Input or usage."""
UNKNOWN = 3
"""The time limit ended with neither a plan nor a proof that none exists."""
INTERNAL = 70
"""An internal error; EX_SOFTWARE of sysexits.h."""
