# SPDX-License-Identifier: Apache-2.0
"""Reads compute nodes, aggregates, flavors, images and server groups from Nova
and Glance."""
