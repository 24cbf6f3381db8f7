# SPDX-License-Identifier: Apache-2.0
"""Changes that make an unplaceable group fit, and the number of copies of a
group that fit.

Every answer comes from ``solve`` on a changed group or a changed snapshot. A
change is reported only if ``solve`` found a plan for it. A change is excluded
only if ``solve`` proved that no plan exists.
"""
