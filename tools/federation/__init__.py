# SPDX-License-Identifier: Apache-2.0
"""A federation on one machine: clouds with a real Nova and Placement each, and
a parent, in separate processes that communicate over HTTP.

By default, there is no Keystone. A token is ``USER:PROJECT``, and every
service accepts it.
"""
