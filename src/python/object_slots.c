// SPDX-License-Identifier: GPL-2.0-only
#include "python/object_slots.h"

#include "python/releases.h"

enum {
	/* Classes of one object, and slots of a class, that are looked at. */
	CLASSES_MAX = 16,
	SLOTS_MAX = 64,
	/* PyTypeObject: tp_members, tp_getset, tp_base. */
	MEMBERS_BEFORE_BASE = 16,
	/* PyMemberDef.type: T_OBJECT_EX. */
	MEMBER_OBJECT = 16,
};

/* struct PyMemberDef, of all versions. */
struct member {
	uint64_t name;
	int32_t type;
	uint32_t padding;
	int64_t offset;
	int32_t flags;
	uint32_t padding_2;
	uint64_t doc;
};

struct slots {
	struct py_objects_reader *r;
	uint64_t object;
	/* tp_base. */
	uint32_t base;
	bool (*fn)(void *arg, const char *name, uint64_t value);
	void *arg;
};

/* False: enough. */
static bool tell_slot(const struct slots *slots, const struct member *member)
{
	char name[PY_TYPE_NAME_MAX];
	uint64_t value;

	if (member->type != MEMBER_OBJECT || member->flags ||
	    member->offset <= 0 || member->offset >= PY_OFFSET_MAX ||
	    !py_read_pointer(slots->r,
			     slots->object + (uint64_t)member->offset,
			     &value) ||
	    !value || !py_string_read(slots->r, member->name, name))
		return true;
	return slots->fn(slots->arg, name, value);
}

static bool tell_class(const struct slots *slots, uint64_t class)
{
	struct member member;
	uint64_t members;

	if (!py_read_pointer(slots->r,
			     class + slots->base - MEMBERS_BEFORE_BASE,
			     &members))
		return true;
	for (int i = 0; i < SLOTS_MAX; i++, members += sizeof(member))
		if (!py_read_bytes(slots->r, members, &member,
				   sizeof(member)) ||
		    !member.name)
			return true;
		else if (!tell_slot(slots, &member))
			return false;
	return true;
}

void py_slots_each(struct py_objects_reader *r, uint64_t object,
		   bool (*fn)(void *arg, const char *name, uint64_t value),
		   void *arg)
{
	const struct slots slots = {
		r, object, py_release_of(r->layout)->tasks.type_base, fn, arg
	};
	uint64_t classes[CLASSES_MAX];
	struct py_type type;
	size_t count = 0;

	if (!slots.base || !py_type_of(r, object, &type))
		return;
	while (py_type_is_class(&type) && count < CLASSES_MAX) {
		uint64_t base;

		classes[count++] = type.address;
		if (!py_read_pointer(r, type.address + slots.base, &base) ||
		    !py_type_at(r, base, &type))
			break;
	}
	while (count && tell_class(&slots, classes[count - 1]))
		count--;
}
