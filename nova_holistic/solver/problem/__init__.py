# SPDX-License-Identifier: Apache-2.0
"""What is solved: hosts, member classes, capacity, and the policies as rows
over counts."""
