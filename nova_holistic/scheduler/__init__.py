# SPDX-License-Identifier: Apache-2.0
"""The extension of nova-scheduler: manager, filters and weighers.

``manager`` receives each request. ``lookup`` answers creates that have a
pointer, and Nova's unchanged code answers all others. Only this package,
``embedded`` and ``cli/scheduler.py`` import Nova.
"""
