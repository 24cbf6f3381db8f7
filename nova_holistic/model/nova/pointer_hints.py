# SPDX-License-Identifier: Apache-2.0
"""Scheduler hints with which a create points at a planned member."""

GROUP_HINT = 'holistic_group'
MEMBER_HINT = 'holistic_member'
