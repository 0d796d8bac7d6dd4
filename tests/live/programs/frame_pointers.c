// SPDX-License-Identifier: GPL-2.0-only
/* A library for ctypes: the return addresses on the stack, by frame pointers. */

int frame_pointers(void **out, int max);

int frame_pointers(void **out, int max)
{
	void **frame = __builtin_frame_address(0);
	int count = 0;

	while (frame && count < max) {
		out[count++] = frame[1];
		if ((void **)frame[0] <= frame)
			break;
		frame = frame[0];
	}
	return count;
}
