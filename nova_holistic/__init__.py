# SPDX-License-Identifier: Apache-2.0
"""Joint placement of groups of servers on OpenStack Nova."""
