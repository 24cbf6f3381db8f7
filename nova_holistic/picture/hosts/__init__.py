# SPDX-License-Identifier: Apache-2.0
"""The three ways to draw a host, for clouds of different sizes."""
