# SPDX-License-Identifier: Apache-2.0
"""Placement of groups across several clouds, each of which has this API."""
