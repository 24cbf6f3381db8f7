# SPDX-License-Identifier: Apache-2.0
"""Large groups on large clouds: relaxations of merged hosts, and the hosts and
places that they lead to."""
