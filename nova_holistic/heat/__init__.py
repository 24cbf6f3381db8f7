# SPDX-License-Identifier: Apache-2.0
"""Plug-ins of heat-engine; only this package imports Heat."""
