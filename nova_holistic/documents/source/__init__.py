# SPDX-License-Identifier: Apache-2.0
"""Text of documents, and positions in the text."""
