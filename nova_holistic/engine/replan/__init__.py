# SPDX-License-Identifier: Apache-2.0
"""Finds new places for lost members, and for members without capacity."""
