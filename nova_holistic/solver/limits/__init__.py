# SPDX-License-Identifier: Apache-2.0
"""Limits of size and effort, and shares of the time: the settings of all parts
of the solver."""
