# SPDX-License-Identifier: Apache-2.0
"""Converts documents to the model, and the model to documents: groups, Heat
templates with groups, inventories and plans."""
