# SPDX-License-Identifier: Apache-2.0
"""Evaluates the policies of groups for one server, with the current hosts of
the members."""
