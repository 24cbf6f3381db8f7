# SPDX-License-Identifier: Apache-2.0
"""Reads resource providers from Placement's API or database."""
