# SPDX-License-Identifier: GPL-2.0-only
"""What the command-line and live tests share; tests/README.md is its manual."""
