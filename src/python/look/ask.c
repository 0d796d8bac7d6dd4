// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/strbuf.h"
#include "python/look/look.h"
#include "sys/capture.h"

enum {
	ASK_TIMEOUT_MS = 20000,
	ANSWER_MAX = 1 << 20,
	/* Of what a program that is no Python says. */
	SAID_LINES = 4,
};

/*
 * What a Python is asked; runs on 2.7 and 3.x. The variables come as
 * _sysconfigdata has them: one parser for both.
 */
static const char question[] =
	"import os, sys, sysconfig\n"
	"def say(key, value):\n"
	"    print('%s=%s' % (key, str(value).replace('\\n', ' ')))\n"
	"say('program', os.path.realpath(sys.executable))\n"
	"say('version', sys.version.split()[0])\n"
	"say('implementation', getattr(getattr(sys, 'implementation', None), 'name', 'cpython'))\n"
	"for line in open('/proc/self/maps'):\n"
	"    path = line.split(None, 5)[-1].strip()\n"
	"    name = os.path.basename(path)\n"
	"    if name.startswith('libpython') and not name.startswith('libpython3.so') and path[0] == '/':\n"
	"        say('library', path)\n"
	"        break\n"
	"jit = getattr(sys, '_jit', None)\n"
	"if jit:\n"
	"    say('jit', int(jit.is_available()))\n"
	"    say('jit_enabled', int(jit.is_enabled()))\n"
	"print('variables')\n"
	"for key, value in sorted(sysconfig.get_config_vars().items()):\n"
	"    print(\"'%s': %s\" % (key, str(value).replace('\\n', ' ')))\n";

/* One "key=value" line of the answer. */
static struct error *take_answer(struct python_facts *facts, const char *key,
				 const char *value)
{
	enum answer yes_no = *value == '1' ? ANSWER_YES : ANSWER_NO;

	if (strcmp(key, "program") == 0)
		return python_set_text(&facts->program, value);
	if (strcmp(key, "version") == 0)
		return python_set_text(&facts->version, value);
	if (strcmp(key, "implementation") == 0)
		return python_set_text(&facts->implementation, value);
	if (strcmp(key, "library") == 0)
		return python_set_text(&facts->library, value);
	if (strcmp(key, "jit") == 0)
		facts->config.jit = yes_no;
	else if (strcmp(key, "jit_enabled") == 0)
		facts->jit_enabled = yes_no;
	return NULL;
}

/* The answer's lines; changes text. */
static struct error *parse_answer(char *text, struct python_facts *facts)
{
	char *variables = strstr(text, "\nvariables\n");
	struct error *error;
	char *line;

	if (!variables)
		return error_create(ERROR_UNSUPPORTED,
				    "it does not answer like a Python");
	*variables = '\0';
	variables += strlen("\nvariables\n");
	error = python_config_parse(
		(struct bytes){ (const uint8_t *)variables, strlen(variables) },
		&facts->config);
	while (!error && (line = strsep(&text, "\n"))) {
		char *equals = strchr(line, '=');

		if (!equals)
			continue;
		*equals = '\0';
		error = take_answer(facts, line, equals + 1);
	}
	return error;
}

/* A line without what steers terminals is appended, if there is anything in it. */
static bool add_line(struct strbuf *text, const char *line, size_t length)
{
	size_t blank = strspn(line, " \t\r");

	if (blank >= length)
		return false;
	strbuf_printf(text, "\n%.*s", (int)length, line);
	return true;
}

/* It failed: how, and on lines of their own what it printed on stderr first. */
static struct error *did_not_run(const char *file, int status,
				 const struct strbuf *errors)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *line = errors->data;
	int lines = 0;

	if (WIFSIGNALED(status))
		strbuf_printf(&text, "ended by signal %d", WTERMSIG(status));
	else
		strbuf_printf(&text, "exit status %d", WEXITSTATUS(status));
	if (errors->len)
		strbuf_puts(&text, "; it says:");
	while (*line && lines < SAID_LINES) {
		size_t length = strcspn(line, "\n");

		lines += add_line(&text, line, length);
		line += length + (line[length] == '\n');
	}
	if (text.failed)
		return error_no_memory();
	return error_create(ERROR_UNSUPPORTED,
			    "'%s' does not run as a Python: %s", file,
			    text.data);
}

struct error *python_ask(const char *file, const char *path,
			 const struct invoker *invoker,
			 struct python_facts *facts)
{
	const char *const argv[] = { file, "-E", "-S", "-c", question, NULL };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;
	const struct capture capture = {
		.argv = argv,
		.invoker = invoker,
		.path = path,
		.timeout_ms = ASK_TIMEOUT_MS,
		.limit = ANSWER_MAX,
		.errors = &errors,
	};
	struct error *error;
	int status;

	error = capture_run(&capture, &out, &status);
	if (error)
		return error;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return did_not_run(file, status, &errors);
	error = parse_answer(out.data, facts);
	if (error)
		return error;
	if (!facts->program)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' does not say what it is", file);
	facts->shared = facts->library != NULL;
	if (!facts->library)
		return python_set_text(&facts->library, facts->program);
	return NULL;
}
