# SPDX-License-Identifier: Apache-2.0
"""Notifications on the message bus about changes of groups and members."""
