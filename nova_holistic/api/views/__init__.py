# SPDX-License-Identifier: Apache-2.0
"""What a client sees of a record: one module a noun."""
