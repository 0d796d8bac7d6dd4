/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slots of an instance: what its classes name in `__slots__`, by the descriptors
 * of members that each class has (Include/structmember.h, Include/descrobject.h). From
 * 3.8 on. The numbers there are not trusted.
 */
#ifndef KAA_PYTHON_OBJECT_SLOTS_H
#define KAA_PYTHON_OBJECT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "python/object.h"

/*
 * Calls fn for each slot that has a value, those of base classes first, until it
 * returns false. The name is as Python has it, and not more than that.
 */
void py_slots_each(struct py_objects_reader *r, uint64_t object,
		   bool (*fn)(void *arg, const char *name, uint64_t value),
		   void *arg);

#endif
