# SPDX-License-Identifier: Apache-2.0
"""Plans and bounds for objectives that measure traffic between members."""
