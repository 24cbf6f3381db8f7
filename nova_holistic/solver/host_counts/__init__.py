# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the number of hosts, from numbers of hosts and domains that
all policies share."""
