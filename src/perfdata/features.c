// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/features.h"

#include <inttypes.h>
#include <string.h>

#include "perfdata/record.h"

/* perf pads the strings of its features to this. */
#define STRING_ALIGN 64
#define MAX_CMDLINE 65536
/* Bytes of sections that are only handed on; more are left out. */
#define MAX_OTHERS (256u << 20)
#define MAX_BUILD_IDS (1u << 20)
/* misc of a BUILD_ID record: the byte behind the id is its size. */
#define MISC_BUILD_ID_SIZE (1u << 15)

static void clear_cmdline(struct features *f)
{
	vec_for_each(arg, &f->cmdline) {
		f->text_bytes -= strlen(*arg) + 1;
		free(*arg);
	}
	vec_clear(&f->cmdline);
}

void features_deinit(struct features *f)
{
	clear_cmdline(f);
	free(f->hostname);
	free(f->osrelease);
	free(f->version);
	free(f->arch);
	free(f->cpudesc);
	free(f->cpuid);
	vec_deinit(&f->cmdline);
	vec_for_each(entry, &f->build_ids)
		free(entry->filename);
	vec_deinit(&f->build_ids);
	map_deinit(&f->build_id_names);
	vec_deinit(&f->tracing_data);
	vec_for_each(section, &f->others)
		vec_deinit(&section->bytes);
	vec_deinit(&f->others);
	*f = (struct features){};
}

/* The place of a string feature; NULL if the bit is none. */
static char **string_of(struct features *f, enum feature bit)
{
	switch (bit) {
	case FEATURE_HOSTNAME:
		return &f->hostname;
	case FEATURE_OSRELEASE:
		return &f->osrelease;
	case FEATURE_VERSION:
		return &f->version;
	case FEATURE_ARCH:
		return &f->arch;
	case FEATURE_CPUDESC:
		return &f->cpudesc;
	case FEATURE_CPUID:
		return &f->cpuid;
	default:
		return NULL;
	}
}

struct error *features_set_string(struct features *f, enum feature bit,
				  const char *value)
{
	char **place = string_of(f, bit);
	char *copy;

	if (!place)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "feature %d is not a string", (int)bit);
	copy = strdup(value);
	if (!copy)
		return error_no_memory();
	free(*place);
	*place = copy;
	features_mark(f, bit);
	return NULL;
}

/* A text whose copy is kept. */
static struct error *count_text(struct features *f, size_t size)
{
	if (size > FEATURES_TEXT_MAX - f->text_bytes)
		return error_create(ERROR_LIMIT,
				    "more than 256 MiB of command line and build-ids");
	f->text_bytes += size;
	return NULL;
}

/* arg has no NUL before len. */
static struct error *add_cmdline(struct features *f, const char *arg, size_t len)
{
	_cleanup_free_ char *copy = NULL;
	struct error *error;

	if (f->cmdline.count >= MAX_CMDLINE)
		return error_create(ERROR_LIMIT,
				    "more than %d command line arguments",
				    MAX_CMDLINE);
	error = count_text(f, len + 1);
	if (error)
		return error;
	copy = strndup(arg, len);
	if (!copy || !vec_reserve(&f->cmdline, 1))
		return error_no_memory();
	f->cmdline.data[f->cmdline.count++] = take_ptr(copy);
	features_mark(f, FEATURE_CMDLINE);
	return NULL;
}

struct error *features_add_cmdline(struct features *f, const char *arg)
{
	return add_cmdline(f, arg, strlen(arg));
}

static uint64_t hash_file(const char *filename, bool is_kernel)
{
	return hash_combine(hash_string(filename), is_kernel);
}

static bool is_of_kernel(const struct feature_build_id *entry)
{
	return (entry->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
	       PERF_RECORD_MISC_KERNEL;
}

/* Of two names with one hash, which somebody made so, the first has a build-id. */
const struct feature_build_id *
features_find_build_id(const struct features *f, const char *filename,
		       bool is_kernel)
{
	const uint64_t *number = map_find(&f->build_id_names,
					  hash_file(filename, is_kernel));
	const struct feature_build_id *entry =
		number ? &f->build_ids.data[*number] : NULL;

	return entry && is_of_kernel(entry) == is_kernel &&
			       !strcmp(entry->filename, filename) ?
		       entry :
		       NULL;
}

struct error *features_add_build_id(struct features *f,
				    const struct feature_build_id *entry)
{
	struct feature_build_id copy = *entry;
	struct error *error;

	if (f->build_ids.count >= MAX_BUILD_IDS)
		return error_create(ERROR_LIMIT, "more than %u build-ids",
				    MAX_BUILD_IDS);
	error = count_text(f, strlen(entry->filename) + 1);
	if (error)
		return error;
	copy.filename = strdup(entry->filename);
	if (!copy.filename)
		return error_no_memory();
	if (!map_insert(&f->build_id_names,
			hash_file(copy.filename, is_of_kernel(&copy)),
			f->build_ids.count, NULL) ||
	    !vec_push(&f->build_ids, copy)) {
		free(copy.filename);
		return error_no_memory();
	}
	features_mark(f, FEATURE_BUILD_ID);
	return NULL;
}

struct error *features_set_tracing_data(struct features *f, const void *data,
					size_t size)
{
	vec_clear(&f->tracing_data);
	if (!vec_reserve(&f->tracing_data, size))
		return error_no_memory();
	if (size)
		memcpy(f->tracing_data.data, data, size);
	f->tracing_data.count = size;
	features_mark(f, FEATURE_TRACING_DATA);
	return NULL;
}

/* reader_sub() that never hands out a reader without bytes to stand on. */
static struct reader take_sub(struct reader *r, size_t n)
{
	struct reader sub = *r;

	if (r->failed || n > reader_left(r)) {
		r->failed = true;
		sub.failed = true;
		sub.end = sub.pos;
		return sub;
	}
	return reader_sub(r, n);
}

/* u32 length with padding, then a string that ends at its first NUL. */
static const char *take_string(struct reader *r, size_t *len)
{
	const uint8_t *bytes;
	uint32_t padded;

	reader_u32(r, &padded);
	bytes = reader_bytes(r, padded);
	if (!bytes)
		return NULL;
	*len = strnlen((const char *)bytes, padded);
	return (const char *)bytes;
}

static struct error *decode_string(struct reader *r, char **place)
{
	size_t len;
	const char *s = take_string(r, &len);
	char *copy;

	if (!s)
		return reader_error(r, "a string");
	copy = strndup(s, len);
	if (!copy)
		return error_no_memory();
	free(*place);
	*place = copy;
	return NULL;
}

static struct error *decode_cmdline(struct features *f, struct reader *r)
{
	uint32_t count;
	struct error *err;

	clear_cmdline(f);
	reader_u32(r, &count);
	for (uint32_t i = 0; i < count; i++) {
		size_t len;
		const char *s = take_string(r, &len);

		if (!s)
			break;
		err = add_cmdline(f, s, len);
		if (err)
			return err;
	}
	return r->failed ? reader_error(r, "the command line") : NULL;
}

/*
 * The event that a description stands for: by its first id, else by place if
 * the attributes agree.
 */
static struct event *described_event(struct events *events, uint32_t index,
				     struct reader attr, struct reader ids)
{
	uint32_t type;
	uint32_t size;
	uint64_t config;
	uint64_t id;
	struct event *event;

	if (reader_u64(&ids, &id)) {
		event = events_find(events, id);
		if (event)
			return event;
	}
	reader_u32(&attr, &type);
	reader_u32(&attr, &size);
	reader_u64(&attr, &config);
	if (attr.failed || index >= events->list.count)
		return NULL;
	event = events->list.data[index];
	return event->attr.type == type && event->attr.config == config ?
		       event :
		       NULL;
}

static struct error *decode_one_event(struct events *events, uint32_t index,
				      uint32_t attr_size, struct reader *r)
{
	struct reader attr = take_sub(r, attr_size);
	struct reader ids;
	_cleanup_free_ char *name = NULL;
	struct event *event;
	struct error *err;
	uint32_t id_count;

	reader_u32(r, &id_count);
	err = decode_string(r, &name);
	if (err)
		return err;
	ids = take_sub(r, 8 * (size_t)id_count);
	if (r->failed)
		return reader_error(r, "an event description");
	event = described_event(events, index, attr, ids);
	return event && *name ? event_set_name(event, name) : NULL;
}

static struct error *decode_event_desc(struct reader *r, struct events *events)
{
	uint32_t count;
	uint32_t attr_size;
	struct error *err;

	reader_u32(r, &count);
	reader_u32(r, &attr_size);
	if (r->failed)
		return reader_error(r, "the event descriptions");
	for (uint32_t i = 0; i < count; i++) {
		err = decode_one_event(events, i, attr_size, r);
		if (err)
			return err;
	}
	return NULL;
}

/* A record of BUILD_ID: header, s32 pid, id[20], size, 3 bytes, file name. */
static struct error *decode_build_id(struct features *f, struct reader *r)
{
	struct feature_build_id entry = {};
	const uint8_t *id;
	struct reader body;
	uint32_t type, pid;
	uint16_t misc, size;

	reader_u32(r, &type);
	reader_u16(r, &misc);
	reader_u16(r, &size);
	body = take_sub(r, size < 8 ? SIZE_MAX : size - 8u);
	reader_u32(&body, &pid);
	id = reader_bytes(&body, sizeof(entry.build_id));
	reader_u8(&body, &entry.size);
	reader_skip(&body, 3);
	entry.filename = (char *)reader_cstr(&body, NULL);
	if (body.failed) {
		r->failed = true;
		return reader_error(&body, "a build-id");
	}
	memcpy(entry.build_id, id, sizeof(entry.build_id));
	if (!(misc & MISC_BUILD_ID_SIZE) || entry.size > sizeof(entry.build_id))
		entry.size = sizeof(entry.build_id);
	entry.pid = (int32_t)pid;
	entry.misc = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return features_add_build_id(f, &entry);
}

static struct error *decode_build_ids(struct features *f, struct reader *r)
{
	struct error *err;

	while (reader_left(r) >= sizeof(struct perf_event_header)) {
		err = decode_build_id(f, r);
		if (err)
			return err;
	}
	return NULL;
}

static void decode_clock_data(struct features *f, struct reader *r)
{
	uint32_t version;

	reader_u32(r, &version);
	reader_u32(r, &f->clockid);
	reader_u64(r, &f->clock_wall_ns);
	reader_u64(r, &f->clock_ns);
}

static void decode_compressed(struct features *f, struct reader *r)
{
	uint32_t version;

	reader_u32(r, &version);
	reader_u32(r, &f->compress_type);
	reader_u32(r, &f->compress_level);
	reader_u32(r, &f->compress_ratio);
	reader_u32(r, &f->compress_mmap_len);
}

static bool is_of_the_file(enum feature bit)
{
	return bit == FEATURE_AUXTRACE || bit == FEATURE_DIR_FORMAT ||
	       bit == FEATURE_COMPRESSED;
}

static struct error *add_section(struct features *f, enum feature bit,
				 const void *bytes, size_t size)
{
	struct feature_section section = { .bit = bit };

	if (!vec_reserve(&section.bytes, size + 1))
		return error_no_memory();
	if (size)
		memcpy(section.bytes.data, bytes, size);
	section.bytes.count = size;
	if (!vec_push(&f->others, section)) {
		vec_deinit(&section.bytes);
		return error_no_memory();
	}
	return NULL;
}

static struct error *keep_other(struct features *f, enum feature bit,
				struct reader *r)
{
	size_t size = reader_left(r), held = size;

	vec_for_each(other, &f->others)
		held += other->bytes.count;
	if (is_of_the_file(bit) || features_have(f, bit) || held > MAX_OTHERS)
		return NULL;
	return add_section(f, bit, reader_bytes(r, size), size);
}

static struct error *decode_numbers(struct features *f, enum feature bit,
				    struct reader *r)
{
	switch (bit) {
	case FEATURE_NRCPUS:
		reader_u32(r, &f->cpus_available);
		reader_u32(r, &f->cpus_online);
		break;
	case FEATURE_TOTAL_MEM:
		reader_u64(r, &f->total_mem_kb);
		break;
	case FEATURE_SAMPLE_TIME:
		reader_u64(r, &f->first_sample_time);
		reader_u64(r, &f->last_sample_time);
		break;
	case FEATURE_CLOCKID:
		reader_u64(r, &f->clockid_resolution);
		break;
	case FEATURE_CLOCK_DATA:
		decode_clock_data(f, r);
		break;
	case FEATURE_COMPRESSED:
		decode_compressed(f, r);
		break;
	default:
		return keep_other(f, bit, r);
	}
	return r->failed ? reader_error(r, "a feature section") : NULL;
}

struct error *features_decode(struct features *f, enum feature bit,
			      struct reader *payload, struct events *events)
{
	char **string = string_of(f, bit);
	struct error *err;

	if (string)
		err = decode_string(payload, string);
	else if (bit == FEATURE_CMDLINE)
		err = decode_cmdline(f, payload);
	else if (bit == FEATURE_EVENT_DESC)
		err = decode_event_desc(payload, events);
	else if (bit == FEATURE_BUILD_ID)
		err = decode_build_ids(f, payload);
	else if (bit == FEATURE_TRACING_DATA)
		err = features_set_tracing_data(f, payload->pos,
						reader_left(payload));
	else
		err = decode_numbers(f, bit, payload);
	if (!err)
		features_mark(f, bit);
	return err;
}

static void put_u32(struct strbuf *out, uint32_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_u64(struct strbuf *out, uint64_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_string(struct strbuf *out, const char *s)
{
	size_t len = strlen(s);
	size_t padded = (len + STRING_ALIGN) / STRING_ALIGN * STRING_ALIGN;

	put_u32(out, (uint32_t)padded);
	strbuf_append(out, s, len);
	strbuf_fill(out, '\0', padded - len);
}

static void put_cmdline(struct strbuf *out, const struct features *f)
{
	put_u32(out, (uint32_t)f->cmdline.count);
	for (size_t i = 0; i < f->cmdline.count; i++)
		put_string(out, f->cmdline.data[i]);
}

static void put_event_desc(struct strbuf *out, const struct events *events)
{
	put_u32(out, (uint32_t)events->list.count);
	put_u32(out, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = events->list.data[i];
		struct perf_event_attr attr = event->attr;

		attr.size = sizeof(attr);
		strbuf_append(out, &attr, sizeof(attr));
		put_u32(out, (uint32_t)event->ids.count);
		put_string(out, event->name);
		strbuf_append(out, event->ids.data,
			      event->ids.count * sizeof(*event->ids.data));
	}
}

/* What follows a record's header. */
static void put_build_id(struct strbuf *out,
			 const struct feature_build_id *entry, size_t padded)
{
	size_t len = strlen(entry->filename);

	put_u32(out, (uint32_t)entry->pid);
	strbuf_append(out, entry->build_id, sizeof(entry->build_id));
	put_u32(out, entry->size);
	strbuf_append(out, entry->filename, len);
	strbuf_fill(out, '\0', padded - len);
}

static size_t padded_name(const struct feature_build_id *entry)
{
	return (strlen(entry->filename) + STRING_ALIGN) / STRING_ALIGN *
	       STRING_ALIGN;
}

void features_put_build_id(const struct feature_build_id *entry,
			   struct strbuf *out)
{
	const struct perf_event_header header = {
		.type = PERFDATA_HEADER_BUILD_ID,
		.misc = entry->misc | MISC_BUILD_ID_SIZE,
	};

	strbuf_clear(out);
	strbuf_append(out, &header, sizeof(header));
	put_build_id(out, entry, padded_name(entry));
}

static void put_build_ids(struct strbuf *out, const struct features *f)
{
	for (size_t i = 0; i < f->build_ids.count; i++) {
		const struct feature_build_id *entry = &f->build_ids.data[i];
		size_t padded = padded_name(entry);
		struct perf_event_header header = {
			.type = PERFDATA_HEADER_BUILD_ID,
			.misc = entry->misc | MISC_BUILD_ID_SIZE,
			.size = (uint16_t)(sizeof(header) + 28 + padded),
		};

		if (sizeof(header) + 28 + padded > RECORD_MAX_SIZE)
			continue;
		strbuf_append(out, &header, sizeof(header));
		put_build_id(out, entry, padded);
	}
}

static bool put_numbers(struct strbuf *out, const struct features *f,
			enum feature bit)
{
	switch (bit) {
	case FEATURE_NRCPUS:
		put_u32(out, f->cpus_available);
		put_u32(out, f->cpus_online);
		return true;
	case FEATURE_TOTAL_MEM:
		put_u64(out, f->total_mem_kb);
		return true;
	case FEATURE_SAMPLE_TIME:
		put_u64(out, f->first_sample_time);
		put_u64(out, f->last_sample_time);
		return true;
	case FEATURE_CLOCKID:
		put_u64(out, f->clockid_resolution);
		return true;
	case FEATURE_CLOCK_DATA:
		put_u32(out, 1);
		put_u32(out, f->clockid);
		put_u64(out, f->clock_wall_ns);
		put_u64(out, f->clock_ns);
		return true;
	default:
		return false;
	}
}

const struct feature_section *features_section(const struct features *f,
					       enum feature bit)
{
	vec_for_each(section, &f->others)
		if (section->bit == bit)
			return section;
	return NULL;
}

struct reader features_read_section(const struct features *f, enum feature bit)
{
	const struct feature_section *section = features_section(f, bit);

	return section ? reader_init(section->bytes.data, section->bytes.count) :
			 reader_init(NULL, 0);
}

const char *features_read_string(struct reader *r)
{
	uint32_t n = 0;
	const char *s;

	if (!reader_u32(r, &n) || !n || n > reader_left(r))
		return NULL;
	s = (const char *)reader_bytes(r, n);
	return s && !s[n - 1] ? s : NULL;
}

void features_groups(const struct features *f, struct feature_groups *ret)
{
	*ret = (struct feature_groups){
		.reader = features_read_section(f, FEATURE_GROUP_DESC),
	};
	reader_u32(&ret->reader, &ret->left);
}

bool features_next_group(struct feature_groups *groups,
			 struct feature_group *ret)
{
	if (!groups->left)
		return false;
	groups->left--;
	ret->name = features_read_string(&groups->reader);
	if (!ret->name || !reader_u32(&groups->reader, &ret->leader) ||
	    !reader_u32(&groups->reader, &ret->members) ||
	    ret->leader < groups->next || !ret->members)
		return false;
	groups->next = (uint64_t)ret->leader + ret->members;
	return true;
}

struct error *features_set_groups(struct features *f,
				  const struct feature_group *groups,
				  size_t count)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct error *error;

	put_u32(&out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		put_string(&out, groups[i].name);
		put_u32(&out, groups[i].leader);
		put_u32(&out, groups[i].members);
	}
	error = strbuf_error(&out);
	if (!error)
		error = add_section(f, FEATURE_GROUP_DESC, out.data, out.len);
	if (error)
		return error;
	features_mark(f, FEATURE_GROUP_DESC);
	return NULL;
}

static bool put_other(struct strbuf *out, const struct features *f,
		      enum feature bit)
{
	const struct feature_section *section = features_section(f, bit);

	if (section)
		strbuf_append(out, section->bytes.data, section->bytes.count);
	return section;
}

struct error *features_encode(const struct features *f, enum feature bit,
			      const struct events *events, struct strbuf *out)
{
	char **string = string_of((struct features *)f, bit);

	if (string && *string)
		put_string(out, *string);
	else if (bit == FEATURE_CMDLINE)
		put_cmdline(out, f);
	else if (bit == FEATURE_EVENT_DESC)
		put_event_desc(out, events);
	else if (bit == FEATURE_BUILD_ID)
		put_build_ids(out, f);
	else if (bit == FEATURE_TRACING_DATA)
		strbuf_append(out, f->tracing_data.data, f->tracing_data.count);
	else if (!put_numbers(out, f, bit) && !put_other(out, f, bit))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "no encoder for feature %d", (int)bit);
	return strbuf_error(out);
}
