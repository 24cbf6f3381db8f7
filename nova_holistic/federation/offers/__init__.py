# SPDX-License-Identifier: Apache-2.0
"""Selects and orders the offers that a parent requests from its children."""
