// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "python/layout.h"

enum {
	/* The process changes what is being read: so many tries. */
	TRIES = 8,
	INTERPRETERS_MAX = 1024,
	/* Of all interpreters together. */
	THREADS_MAX = 65536,
	/* Threads whose innermost frame is looked at. */
	FRAMES_MAX = 64,
	/* Shims in a row before a Python frame. */
	SHIMS_MAX = 4,
	/* Characters of a name, and bytes of a line table. */
	TEXT_MAX = 1 << 20,
	LINES_MAX = 64 << 20,
	/* The state of 2.7's str: SSTATE_INTERNED_IMMORTAL. */
	INTERNED_MAX = 2,
};

struct check {
	const struct py_layout *layout;
	const struct py_memory *memory;
	uint64_t runtime;
	uint64_t code_type;
	struct py_layout_seen seen;
};

static struct error *misfit(const struct check *c, const char *what)
{
	return error_create(ERROR_FORMAT,
			    "the layout of Python %u.%u.%u does not fit the "
			    "process: %s",
			    c->layout->version >> 24,
			    PY_MINOR(c->layout->version),
			    c->layout->version >> 8 & 255, what);
}

static bool read_word(const struct check *c, uint64_t address, uint64_t *ret)
{
	return c->memory->read(c->memory->arg, address, ret, sizeof(*ret));
}

static bool read_half(const struct check *c, uint64_t address, uint32_t *ret)
{
	return c->memory->read(c->memory->arg, address, ret, sizeof(*ret));
}

/* A heap or data address: not in the first page, aligned, canonical. */
static bool is_pointer(uint64_t value)
{
	return value >= 4096 && value < 1ull << 47 && !(value & 7);
}

static struct error *check_code_type(const struct check *c)
{
	char name[5] = "";
	uint64_t address;

	if (!read_word(c, c->code_type + c->layout->type_name, &address))
		return error_create(ERROR_FAULT, "cannot read PyCode_Type");
	/* Relocated by the dynamic linker, not yet done in a new process. */
	if (!address)
		return error_create(ERROR_NOT_FOUND,
				    "the interpreter has not started yet");
	if (!c->memory->read(c->memory->arg, address, name, sizeof(name)) ||
	    memcmp(name, "code", sizeof(name)))
		return misfit(c, "PyCode_Type is not the type of code objects");
	return NULL;
}

static bool is_text(const struct check *c, uint64_t text)
{
	const struct py_layout *l = c->layout;
	uint64_t length;
	uint32_t state, kind;

	if (!is_pointer(text) || !read_word(c, text + l->text_length, &length) ||
	    !read_half(c, text + l->text_state, &state))
		return false;
	if (l->flags & PY_BYTE_TEXTS)
		return length <= TEXT_MAX && state <= INTERNED_MAX;
	kind = state >> l->text_kind_shift & 7;
	return length <= TEXT_MAX && (kind == 1 || kind == 2 || kind == 4);
}

static bool is_line_table(const struct check *c, uint64_t lines)
{
	uint64_t size;

	return is_pointer(lines) &&
	       read_word(c, lines + c->layout->bytes_size, &size) &&
	       size <= LINES_MAX;
}

/* True if all that is read of a code object is as it has to be. */
static bool is_code(const struct check *c, uint64_t code)
{
	const struct py_layout *l = c->layout;
	uint64_t type, filename, name, lines;
	uint32_t line;

	if (!is_pointer(code) || !read_word(c, code + l->object_type, &type) ||
	    type != c->code_type)
		return false;
	if (!read_word(c, code + l->code_filename, &filename) ||
	    !read_word(c, code + l->code_name, &name) ||
	    !read_word(c, code + l->code_lines, &lines) ||
	    !read_half(c, code + l->code_first_line, &line))
		return false;
	if (l->code_qualname != PY_ABSENT) {
		uint64_t qualname;

		if (!read_word(c, code + l->code_qualname, &qualname) ||
		    !is_text(c, qualname))
			return false;
	}
	return is_text(c, filename) && is_text(c, name) &&
	       is_line_table(c, lines) && line <= INT32_MAX;
}

static bool is_shim(const struct check *c, uint64_t frame)
{
	uint8_t owner;

	return (c->layout->flags & PY_SHIM_FRAMES) &&
	       c->memory->read(c->memory->arg, frame + c->layout->frame_owner,
			       &owner, sizeof(owner)) &&
	       owner >= c->layout->shim_owner;
}

/* The innermost frame; 0: none. False if it cannot be read. */
static bool innermost_frame(const struct check *c, uint64_t thread,
			    uint64_t *ret)
{
	const struct py_layout *l = c->layout;
	uint64_t frame;

	if (l->flags & PY_FRAME_VIA_CFRAME) {
		if (!read_word(c, thread + l->thread_cframe, &frame))
			return false;
		frame = frame ? frame + l->cframe_frame : 0;
	} else {
		frame = thread + l->thread_frame;
	}
	if (frame && !read_word(c, frame, &frame))
		return false;
	for (int i = 0; frame && i < SHIMS_MAX && is_shim(c, frame); i++)
		if (!read_word(c, frame + l->frame_previous, &frame))
			return false;
	*ret = frame;
	return true;
}

static bool frame_is_right(const struct check *c, uint64_t frame)
{
	uint64_t code;

	return is_pointer(frame) &&
	       read_word(c, frame + c->layout->frame_code, &code) &&
	       is_code(c, code & ~(uint64_t)c->layout->code_tag_mask);
}

/*
 * A thread's pthread_t is the address of its control block, which holds
 * its own address (glibc, musl): nothing else than a thread id does that.
 */
static bool is_thread_id(const struct check *c, uint64_t id)
{
	uint64_t self;

	return is_pointer(id) && read_word(c, id, &self) && self == id;
}

static struct error *check_thread(struct check *c, uint64_t thread)
{
	uint64_t id, frame;

	if (!read_word(c, thread + c->layout->thread_id, &id))
		return misfit(c, "a thread state that cannot be read");
	if (++c->seen.threads > THREADS_MAX)
		return misfit(c, "a list without an end");
	/* A state that is being set up, or whose thread has ended. */
	if (!is_thread_id(c, id))
		return NULL;
	c->seen.live_threads++;
	if (c->seen.frames >= FRAMES_MAX)
		return NULL;
	if (!innermost_frame(c, thread, &frame))
		return misfit(c, "a frame that cannot be read");
	if (!frame)
		return NULL;
	if (!frame_is_right(c, frame))
		return misfit(c, "a frame without a code object");
	c->seen.frames++;
	return NULL;
}

/* Calls fn for each node of a list; next is the offset of its link. */
static struct error *for_each_node(struct check *c, uint64_t head,
				   uint32_t next, unsigned int max,
				   struct error *(*fn)(struct check *, uint64_t))
{
	for (unsigned int i = 0; head; i++) {
		struct error *error;

		if (i == max || !is_pointer(head))
			return misfit(c, "a list without an end");
		error = fn(c, head);
		if (error)
			return error;
		if (!read_word(c, head + next, &head))
			return misfit(c, "a list that cannot be read");
	}
	return NULL;
}

static struct error *check_interpreter(struct check *c, uint64_t interp)
{
	uint64_t threads;

	if (!read_word(c, interp + c->layout->interp_threads, &threads))
		return misfit(c, "an interpreter that cannot be read");
	c->seen.interpreters++;
	return for_each_node(c, threads, c->layout->thread_next, THREADS_MAX,
			     check_thread);
}

static struct error *check_once(struct check *c)
{
	uint64_t head;
	struct error *error = check_code_type(c);

	if (error)
		return error;
	if (!read_word(c, c->runtime + c->layout->runtime_interpreters, &head))
		return error_create(ERROR_FAULT, "cannot read _PyRuntime");
	error = for_each_node(c, head, c->layout->interp_next,
			      INTERPRETERS_MAX, check_interpreter);
	if (error)
		return error;
	if (!c->seen.threads)
		return error_create(ERROR_NOT_FOUND,
				    "the interpreter has not started yet");
	if (!c->seen.live_threads)
		return misfit(c, "no thread state has a thread");
	return NULL;
}

struct error *py_layout_validate(const struct py_layout *layout,
				 const struct py_memory *memory,
				 uint64_t runtime, uint64_t code_type,
				 struct py_layout_seen *ret)
{
	struct check c = { layout, memory, runtime, code_type, {} };
	struct error *error = NULL;

	for (int i = 0; i < TRIES; i++) {
		error_destroy(error);
		memset(&c.seen, 0, sizeof(c.seen));
		error = check_once(&c);
		/* Only what may have been torn is worth another try. */
		if (!error || error->code != ERROR_FORMAT)
			break;
	}
	if (!error && ret)
		*ret = c.seen;
	return error;
}
