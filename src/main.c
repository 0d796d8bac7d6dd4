// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/command.h"

int main(int argc, char **argv)
{
	return command_main(argc, argv);
}
