# SPDX-License-Identifier: Apache-2.0
"""Computes moves and other actions after which the servers of a group satisfy
its policies and match its definition."""
