# SPDX-License-Identifier: Apache-2.0
"""Reasons why a group cannot be placed, and why a member is on its host."""
