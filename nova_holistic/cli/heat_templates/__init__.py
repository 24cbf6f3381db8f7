# SPDX-License-Identifier: Apache-2.0
"""What the command line reads in addition to a Heat template."""
