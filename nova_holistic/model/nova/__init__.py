# SPDX-License-Identifier: Apache-2.0
"""Concepts of Nova that plans take into account: flavors, images, server
groups and the positions of servers."""
