# SPDX-License-Identifier: Apache-2.0
"""Records as clients see them: one module per noun."""
