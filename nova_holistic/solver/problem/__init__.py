# SPDX-License-Identifier: Apache-2.0
"""The model of a problem: hosts, member classes, capacity, and the policies as
rows over counts."""
