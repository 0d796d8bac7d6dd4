// SPDX-License-Identifier: GPL-2.0-only
#include "collect/made_code.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Of libraries that bring a descriptor, in one process. */
	DESCRIPTORS_MAX = 16,
	ENTRIES_MAX = 16384,
	OBJECTS_MAX = 65536,
	/* Of an image whose rows are not relocated. */
	RETRIES_MAX = 8,
	IMAGE_MAX = 16 << 20,
	/* Of all images of one process at a time, and of those that one look reads. */
	IMAGES_MAX = 64 << 20,
	/* Of the newest image, to tell whether the list has changed. */
	HASHED_MAX = 64 << 10,
	CHUNK = 16 << 10,
	VERSION = 1,
};

/* struct jit_descriptor of the interface, on a 64-bit machine. */
struct descriptor {
	uint32_t version;
	uint32_t action;
	uint64_t relevant;
	uint64_t first;
};

/* struct jit_code_entry. */
struct entry {
	uint64_t next;
	uint64_t previous;
	uint64_t image;
	uint64_t image_size;
};

void made_code_deinit(struct made_code *code)
{
	vec_for_each(object, &code->objects)
		made_object_destroy(*object);
	vec_deinit(&code->objects);
	vec_deinit(&code->places);
	vec_deinit(&code->descriptors);
	map_deinit(&code->by_identity);
}

struct error *made_code_add(struct made_code *code, uint64_t descriptor)
{
	vec_for_each(known, &code->descriptors)
		if (*known == descriptor)
			return NULL;
	if (code->descriptors.count == DESCRIPTORS_MAX)
		return NULL;
	code->heads = 0;
	return vec_push(&code->descriptors, descriptor) ? NULL :
							  error_no_memory();
}

/* 0 if it cannot be read. */
static uint64_t hash_image(struct remote_memory *memory, uint64_t address,
			   size_t size)
{
	uint8_t chunk[CHUNK];
	uint64_t hash = size;
	size_t n;

	for (size_t done = 0; done < size; done += n) {
		n = size - done < CHUNK ? size - done : CHUNK;
		if (!remote_memory_read_all(memory, address + done, chunk, n))
			return 0;
		hash = hash_combine(hash, hash_bytes(chunk, n));
	}
	return hash;
}

/*
 * Memory of an entry that is gone may hold the next one: then the head is the
 * same, and what it leads to is another. 0 if it cannot be read.
 */
static uint64_t hash_first(struct remote_memory *memory, uint64_t first)
{
	struct entry entry;
	uint64_t size;

	if (!first || !remote_memory_read_all(memory, first, &entry, sizeof(entry)))
		return 0;
	size = entry.image_size < HASHED_MAX ? entry.image_size : HASHED_MAX;
	return hash_combine(hash_bytes(&entry, sizeof(entry)),
			    hash_image(memory, entry.image, size));
}

/* 0 if it cannot be read, as when its library was unloaded. */
static uint64_t hash_head(struct remote_memory *memory, uint64_t address)
{
	struct descriptor head;

	if (!remote_memory_read_all(memory, address, &head, sizeof(head)))
		return 0;
	return hash_combine(hash_bytes(&head, sizeof(head)),
			    hash_first(memory, head.first)) |
	       1;
}

/* 0 if none can be read, as when the process has ended. */
static uint64_t hash_heads(const struct made_code *code,
			   struct remote_memory *memory)
{
	uint64_t hash = 1;
	bool is_read = false;

	vec_for_each(address, &code->descriptors) {
		uint64_t head = hash_head(memory, *address);

		is_read |= head != 0;
		hash = hash_combine(hash, head);
	}
	return is_read ? hash | 1 : 0;
}

/* The last one of that identity is this one from now on. */
static struct error *add_object(struct made_code *code, uint64_t identity,
				struct bytes image, uint32_t retries,
				struct remote_memory *memory)
{
	uint64_t *index;
	struct made_object *object;
	struct error *error = made_object_create(image, memory, &object);

	if (error)
		return error;
	object->round = code->round + 1;
	object->identity = identity;
	object->bytes += image.size;
	object->retries = retries;
	code->is_early |= object->is_early && retries < RETRIES_MAX;
	if (!vec_push(&code->objects, object)) {
		made_object_destroy(object);
		return error_no_memory();
	}
	code->bytes += object->bytes;
	index = map_insert(&code->by_identity, identity, 0, NULL);
	if (!index)
		return error_no_memory();
	*index = code->objects.count - 1;
	return NULL;
}

/* The same address may have another image by now: its bytes decide. */
static struct error *take_image(struct made_code *code, struct bytes image,
				uint64_t address, struct remote_memory *memory)
{
	uint64_t identity =
		hash_combine(address, hash_bytes(image.data, image.size));
	const uint64_t *known = map_find(&code->by_identity, identity);
	struct made_object *object = known ? code->objects.data[*known] : NULL;

	if (object) {
		object->round = code->round + 1;
		if (!object->is_early || object->retries >= RETRIES_MAX)
			return NULL;
	}
	if (code->bytes + image.size > IMAGES_MAX ||
	    code->objects.count == OBJECTS_MAX) {
		code->left_out += !object;
		return NULL;
	}
	return add_object(code, identity, image,
			  object ? object->retries + 1 : 0, memory);
}

/* *left: the bytes that this look may still read. */
static struct error *take_entry(struct made_code *code,
				const struct entry *entry,
				struct remote_memory *memory, size_t *left)
{
	size_t size = entry->image_size;
	struct error *error = NULL;
	uint8_t *image;

	if (!size || size > IMAGE_MAX) {
		code->left_out += size != 0;
		return NULL;
	}
	if (size > *left) {
		code->is_cut = true;
		code->left_out++;
		return NULL;
	}
	*left -= size;
	image = malloc(size);
	if (!image)
		return error_no_memory();
	if (remote_memory_read_all(memory, entry->image, image, size))
		error = take_image(code, (struct bytes){ image, size },
				   entry->image, memory);
	else
		code->heads = 0;
	free(image);
	return error;
}

static struct error *read_list(struct made_code *code, uint64_t descriptor,
			       struct remote_memory *memory, size_t *left)
{
	struct descriptor head;
	struct error *error = NULL;
	struct entry entry;
	uint64_t at;

	if (!remote_memory_read_all(memory, descriptor, &head, sizeof(head)) ||
	    head.version != VERSION)
		return NULL;
	at = head.first;
	for (size_t i = 0; !error && at && i < ENTRIES_MAX; i++) {
		if (!remote_memory_read_all(memory, at, &entry, sizeof(entry))) {
			code->heads = 0;
			return NULL;
		}
		error = take_entry(code, &entry, memory, left);
		at = entry.next;
	}
	code->is_cut |= at != 0;
	code->left_out += !error && at;
	return error;
}

static bool is_there(const struct made_code *code,
		     const struct made_object *object)
{
	return object->round >= code->round;
}

/* Frees what is not registered any more. */
static struct error *forget_gone(struct made_code *code)
{
	size_t kept = 0;
	bool ok = true;

	map_clear(&code->by_identity);
	vec_for_each(object, &code->objects) {
		uint64_t *index;

		if (!is_there(code, *object)) {
			code->bytes -= (*object)->bytes;
			made_object_destroy(*object);
			continue;
		}
		index = map_insert(&code->by_identity, (*object)->identity, 0,
				   NULL);
		ok &= index != NULL;
		if (index)
			*index = kept;
		code->objects.data[kept++] = *object;
	}
	code->objects.count = kept;
	return ok ? NULL : error_no_memory();
}

static int compare_places(const void *a, const void *b)
{
	const struct made_place *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct error *find_places(struct made_code *code)
{
	uint64_t reach = 0;

	vec_clear(&code->places);
	for (size_t i = 0; i < code->objects.count; i++)
		vec_for_each(range, &code->objects.data[i]->code)
			if (!vec_push(&code->places,
				      (struct made_place){ range->start,
							   range->end, 0, i }))
				return error_no_memory();
	if (code->places.count)
		qsort(code->places.data, code->places.count,
		      sizeof(*code->places.data), compare_places);
	vec_for_each(place, &code->places) {
		reach = place->end > reach ? place->end : reach;
		place->reach = reach;
	}
	return NULL;
}

/* After a look that all lists were read in, or that has to be made again. */
static struct error *end_look(struct made_code *code)
{
	struct error *error = NULL;

	/* What was not seen in a list that was read to its end is gone. */
	if (code->heads && !code->is_cut) {
		code->round++;
		error = forget_gone(code);
	}
	return error ? error : find_places(code);
}

struct error *made_code_refresh(struct made_code *code,
				struct remote_memory *memory, bool *changed)
{
	uint64_t heads = hash_heads(code, memory);
	struct error *error = NULL;
	size_t left = IMAGES_MAX;

	*changed = heads && (heads != code->heads || code->is_early);
	if (!*changed)
		return NULL;
	code->is_early = false;
	code->is_cut = false;
	code->left_out = 0;
	code->heads = heads;
	vec_for_each(descriptor, &code->descriptors)
		if (!error)
			error = read_list(code, *descriptor, memory, &left);
	/* It was changed meanwhile. */
	if (hash_heads(code, memory) != heads)
		code->heads = 0;
	if (!error)
		return end_look(code);
	vec_clear(&code->places);
	return error;
}

const struct made_object *made_code_at(const struct made_code *code,
				       uint64_t address)
{
	const struct made_object *found = NULL;
	size_t i = vec_upper_bound(&code->places, start, address), last = 0;

	for (; i > 0; i--) {
		const struct made_place *place = &code->places.data[i - 1];
		const struct made_object *object =
			code->objects.data[place->object];

		if (place->reach <= address)
			break;
		if (address >= place->end || !is_there(code, object) ||
		    (found && place->object < last))
			continue;
		found = object;
		last = place->object;
	}
	return found;
}
