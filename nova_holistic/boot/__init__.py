# SPDX-License-Identifier: Apache-2.0
"""Engines create the servers and volumes of a group in Nova and Cinder, with
the rights of the user who requested them."""
