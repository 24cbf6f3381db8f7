# SPDX-License-Identifier: Apache-2.0
"""One engine: it takes groups' tasks from the table and does them."""
