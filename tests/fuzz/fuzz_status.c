/*
 * fuzz_status.c - any bytes as a status file, or one of past prices, in all of sprice's views. What
 * is printed is complete: a parsable row has all its columns, the JSON is the same status again,
 * and the metrics are lines that a collector takes, each family once.
 */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include <json-c/json.h>

#include "fuzz/fuzz.h"
#include "sprice/metrics.h"
#include "sprice/show.h"

static char *printed(const struct show *s, struct json_object *status, int *code);
static void check_rows(const char *text, const struct show *s);
static void check_json(struct json_object *status);
static void check_metrics(char *text);
static void check_sample(const char *line);

/* Columns of each view without a list: commas of what show.c has, plus one. */
static const unsigned columns[] = {
	[VIEW_SUMMARY] = 9,  [VIEW_TIMES] = 8,   [VIEW_HEAT] = 1, /* a picture */
	[VIEW_PRICES] = 9,   [VIEW_CLASSES] = 8, [VIEW_SALES] = 10,  [VIEW_TOTALS] = 2,
	[VIEW_LEARNING] = 2, [VIEW_BOARD] = 7,   [VIEW_HISTORY] = 10};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *out;
	struct json_object *status;
	int code;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	status = status_parse(text, strlen(text));
	if (!status)
		status = history_parse(text, strlen(text));
	free(text);
	if (!status)
		return 0;
	for (unsigned view = VIEW_SUMMARY; view <= VIEW_LEARNING; view++) {
		struct show s = {.view = view, .bid = -1};

		out = printed(&s, status, &code);
		free(out);
		s.parsable = s.noheader = true;
		out = printed(&s, status, &code);
		check_rows(out, &s);
		free(out);
		s.format = "max,sale,name"; /* of no view all */
		out = printed(&s, status, &code);
		REQUIRE(view == VIEW_HEAT || !*out);
		free(out);
	}
	check_json(status);
	out = printed(NULL, status, &code);
	check_metrics(out);
	free(out);
	json_object_put(status);
	return 0;
}

/* What a view (NULL: metrics) prints to standard output; what is said to stderr is lost. */
static char *printed(const struct show *s, struct json_object *status, int *code)
{
	FILE *out = stdout, *said = stderr;
	char *text;
	size_t size;

	*code = EXIT_SUCCESS;
	stdout = open_memstream(&text, &size);
	stderr = fopen("/dev/null", "we");
	REQUIRE(stdout && stderr);
	if (s)
		*code = status_show(s, status);
	else
		metrics_print(status);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = said;
	REQUIRE(*code == EXIT_SUCCESS || *code == EXIT_FAILURE);
	return text;
}

/* Texts of the status may have lines and bars of their own, so there can be more. */
static void check_rows(const char *text, const struct show *s)
{
	unsigned bars = 0;
	size_t len = strlen(text);

	REQUIRE(!len || text[len - 1] == '\n');
	for (const char *p = text; *p; p++)
		bars += *p == '|';
	REQUIRE(!len || bars >= columns[s->view] - 1);
}

static void check_json(struct json_object *status)
{
	const char *text = json_object_to_json_string_ext(status, JSON_C_TO_STRING_PRETTY);
	struct json_object *again = json_tokener_parse(text);

	REQUIRE(again);
	json_object_put(again);
}

/* "# TYPE NAME KIND", "# HELP NAME TEXT", samples of that name, and at last "# EOF". */
static void check_metrics(char *text)
{
	char *save = NULL, *families[128], family[128] = "";
	unsigned n = 0;
	bool end = false;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		REQUIRE(!end);
		end = !strcmp(line, "# EOF");
		if (end)
			continue;
		if (!strncmp(line, "# TYPE ", 7)) {
			char *name = line + 7, *kind = strchr(name, ' ');

			REQUIRE(kind && n < sizeof(families) / sizeof(*families));
			*kind++ = '\0';
			REQUIRE(!strcmp(kind, "gauge") || !strcmp(kind, "counter") ||
				!strcmp(kind, "histogram"));
			for (unsigned i = 0; i < n; i++)
				REQUIRE(strcmp(families[i], name) != 0);
			families[n++] = name;
			snprintf(family, sizeof(family), "%s", name);
		} else if (!strncmp(line, "# HELP ", 7)) {
			REQUIRE(!strncmp(line + 7, family, strlen(family)));
		} else {
			REQUIRE(*family && !strncmp(line, family, strlen(family)));
			check_sample(line);
		}
	}
	REQUIRE(end);
}

/* NAME{LABEL="VALUE",...} NUMBER */
static void check_sample(const char *line)
{
	char *end;

	line += strspn(line, "abcdefghijklmnopqrstuvwxyz_");
	if (*line == '{') {
		do {
			line++;
			line += strspn(line, "abcdefghijklmnopqrstuvwxyz_");
			REQUIRE(*line++ == '=');
			REQUIRE(*line++ == '"');
			for (; *line != '"'; line++) {
				REQUIRE(*line && *line != '\n');
				if (*line == '\\') {
					line++;
					REQUIRE(strchr("\\\"n", *line) && *line);
				}
			}
			line++;
		} while (*line == ',');
		REQUIRE(*line++ == '}');
	}
	REQUIRE(*line++ == ' ');
	REQUIRE(isdigit((unsigned char)*line) || *line == '-');
	(void)strtod(line, &end);
	REQUIRE(!*end);
}
