# SPDX-License-Identifier: Apache-2.0
"""Integer and linear programs, and the solvers that run them."""
