# SPDX-License-Identifier: GPL-2.0-only
# A text file as a string literal of C.
s/[\\"]/\\&/g
s/.*/"&\\n"/
