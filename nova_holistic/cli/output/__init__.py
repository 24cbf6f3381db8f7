# SPDX-License-Identifier: Apache-2.0
"""Writes plans, explanations and groups as tables, JSON or YAML."""
