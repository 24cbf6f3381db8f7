# SPDX-License-Identifier: Apache-2.0
"""The selection and the order of the offers that a parent requests of its
children."""
