# SPDX-License-Identifier: Apache-2.0
"""Ruin and recreate, a local search that improves a plan without solving
programs."""
