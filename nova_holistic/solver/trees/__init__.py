# SPDX-License-Identifier: Apache-2.0
"""Plans for members that use nested providers of hosts or request groups."""
