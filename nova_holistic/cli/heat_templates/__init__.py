# SPDX-License-Identifier: Apache-2.0
"""Files and values that the command line reads in addition to a Heat
template."""
