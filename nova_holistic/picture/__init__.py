# SPDX-License-Identifier: Apache-2.0
"""A plan on its topology, as a picture: (snapshot, plan) to SVG, HTML, PNG.

The package has no side effects except that PNG reads a font.
"""
