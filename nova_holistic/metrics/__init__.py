# SPDX-License-Identifier: Apache-2.0
"""Counters and timings for Prometheus. They have no cost while metrics are
disabled.
"""
