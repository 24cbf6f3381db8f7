# SPDX-License-Identifier: Apache-2.0
"""Counters and timings for Prometheus; they cost nothing while they are off.
"""
