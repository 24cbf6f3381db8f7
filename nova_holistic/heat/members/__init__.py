# SPDX-License-Identifier: Apache-2.0
"""Members whose number of servers a resource of Heat changes."""
