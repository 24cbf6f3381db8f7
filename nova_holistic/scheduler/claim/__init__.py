# SPDX-License-Identifier: Apache-2.0
"""Claims of members by servers: checks of the request, other hosts if the
planned host is refused, and further members."""
