// SPDX-License-Identifier: GPL-2.0-only
// What stands for the page's script where nothing makes it (src/export/meson.build).
