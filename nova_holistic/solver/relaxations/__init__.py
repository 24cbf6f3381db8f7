# SPDX-License-Identifier: Apache-2.0
"""What would make an unplaceable group fit, and how many copies of a group
fit.

Every answer comes from ``solve`` on a changed group or a changed snapshot. A
change that is reported was solved with a plan. A change is excluded only if
``solve`` proved that there is no plan.
"""
