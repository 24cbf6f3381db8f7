# SPDX-License-Identifier: Apache-2.0
"""Text that states names and totals of the cloud, which some users may not
read."""
