# SPDX-License-Identifier: GPL-2.0-only
"""Pillow and numpy: a loop over pixels, beside filters in C: pictures.py SECONDS."""
import sys

import numpy
from PIL import Image, ImageFilter

from account import spent, turns, write

PICTURE = Image.fromarray((numpy.indices((220, 220)).sum(axis=0) * 5 % 256).astype("uint8"))


def blurred(picture):
    with spent("blurred"):
        return picture.filter(ImageFilter.GaussianBlur(3))


def dark(picture):
    pixels, count = picture.load(), 0
    width, height = picture.size
    with spent("dark"):
        for place in range(width * height):
            count += pixels[place % width, place // width] < 80  # hot
    return count


def spectrum(picture):
    numbers = numpy.asarray(picture, dtype=float)
    with spent("spectrum"):
        return abs(numpy.fft.fft2(numbers)).max()


for turn in turns(float(sys.argv[1])):
    dark(blurred(PICTURE)), spectrum(PICTURE)
write()
