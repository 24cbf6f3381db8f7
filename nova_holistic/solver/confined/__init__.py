# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of groups whose policies keep sets of members in one domain
each, by the minimum cost of each number of sets in each domain."""
