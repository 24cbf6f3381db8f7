# SPDX-License-Identifier: Apache-2.0
"""What the command line reads beside a Heat template."""
