# SPDX-License-Identifier: Apache-2.0
"""Large groups on large clouds: merged hosts, patterns of members on hosts,
and the master program over them."""
