// SPDX-License-Identifier: GPL-2.0-only
/* features_fill_host(): what the running system says about itself. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "perfdata/features.h"

static FILE *open_proc(const char *root, const char *name)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/proc/%s", root, name);

	return n < (int)sizeof(path) ? fopen(path, "re") : NULL;
}

/* What stands behind "key  :" in line, without the newline; NULL if not it. */
static char *value_of(char *line, const char *key)
{
	size_t len = strlen(key);
	char *colon;

	if (strncmp(line, key, len) != 0 || !strchr("\t :", line[len]))
		return NULL;
	colon = strchr(line, ':');
	if (!colon)
		return NULL;
	colon[strcspn(colon, "\n")] = '\0';
	return colon + 1 + strspn(colon + 1, " \t");
}

struct cpu_id {
	char vendor[64];
	char family[16];
	char model[16];
	char stepping[16];
};

static void keep(char *line, const char *key, char *place, size_t size)
{
	const char *value = value_of(line, key);

	if (value && !*place)
		snprintf(place, size, "%s", value);
}

/* perf's form of an x86 CPU: vendor,family,model,stepping. */
static struct error *set_cpuid(struct features *f, const struct cpu_id *id)
{
	char text[160];

	if (!*id->vendor)
		return NULL;
	snprintf(text, sizeof(text), "%s,%s,%s,%s", id->vendor, id->family,
		 id->model, id->stepping);
	return features_set_string(f, FEATURE_CPUID, text);
}

static struct error *fill_cpu(struct features *f, const char *root)
{
	_cleanup_fclose_ FILE *file = open_proc(root, "cpuinfo");
	struct cpu_id id = {};
	char desc[256] = "";
	char line[512];
	struct error *err;

	while (file && fgets(line, sizeof(line), file) && line[0] != '\n') {
		keep(line, "vendor_id", id.vendor, sizeof(id.vendor));
		keep(line, "cpu family", id.family, sizeof(id.family));
		keep(line, "stepping", id.stepping, sizeof(id.stepping));
		keep(line, "model name", desc, sizeof(desc));
		if (strncmp(line, "model name", 10) != 0)
			keep(line, "model", id.model, sizeof(id.model));
	}
	if (*desc) {
		err = features_set_string(f, FEATURE_CPUDESC, desc);
		if (err)
			return err;
	}
	return set_cpuid(f, &id);
}

static void fill_memory(struct features *f, const char *root)
{
	_cleanup_fclose_ FILE *file = open_proc(root, "meminfo");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		const char *value = value_of(line, "MemTotal");

		if (value && sscanf(value, "%" SCNu64, &f->total_mem_kb) == 1)
			features_mark(f, FEATURE_TOTAL_MEM);
	}
}

static void fill_cpu_count(struct features *f)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	long available = sysconf(_SC_NPROCESSORS_CONF);

	if (online <= 0 || available <= 0)
		return;
	f->cpus_online = (uint32_t)online;
	f->cpus_available = (uint32_t)available;
	features_mark(f, FEATURE_NRCPUS);
}

struct error *features_fill_host(struct features *f, const char *root)
{
	struct utsname name;
	struct error *err = NULL;

	if (uname(&name) == 0) {
		err = features_set_string(f, FEATURE_HOSTNAME, name.nodename);
		if (!err)
			err = features_set_string(f, FEATURE_OSRELEASE,
						  name.release);
		if (!err)
			err = features_set_string(f, FEATURE_ARCH,
						  name.machine);
	}
	if (err)
		return err;
	fill_cpu_count(f);
	fill_memory(f, root);
	return fill_cpu(f, root);
}
