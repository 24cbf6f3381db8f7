# SPDX-License-Identifier: Apache-2.0
"""The commands of ``nova-holistic-manage``, one module for each noun."""
