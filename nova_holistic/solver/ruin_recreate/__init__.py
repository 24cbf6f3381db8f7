# SPDX-License-Identifier: Apache-2.0
"""Ruin and recreate: improves a plan without programs."""
