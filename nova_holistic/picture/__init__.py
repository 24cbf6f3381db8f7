# SPDX-License-Identifier: Apache-2.0
"""A plan on its topology, as a picture: (snapshot, plan) to SVG, HTML, PNG.

Pure but for reading the font that PNG needs.
"""
