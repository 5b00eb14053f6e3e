/*
 * fuzz_desc.c - a submission of any script, command line, environment and options. Whatever it is:
 * no value of a secret option is left in what Slurm keeps, and nothing else is changed; what cannot
 * be combined with a bid is answered by a whole sentence; the job's environment says what it is to.
 *
 * The input is records that end with a NUL: 'l' a command line, 's' a script, 'e' a variable, 'k'
 * one of SPANK's, 'o' pairs of a field and its value. The byte 1 and the one behind it become a
 * word that has the marker as a secret value, in one of many spellings.
 */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "adapter/desc.h"
#include "adapter/secrets.h"
#include "fuzz/fuzz.h"
#include "input/bid.h"

#define MARKER "\2\2\2\2" /* of a byte that an input does not have */
#define VARS   40

/* Words of a command line or of a line #SBATCH. */
static const char *const words[] = {
	"--bid=" MARKER,
	"--bid " MARKER,
	"--bid\t\t" MARKER,
	"--bi=" MARKER,
	"--max-price=" MARKER,
	"--max-price " MARKER,
	"--max-pr=" MARKER,
	"--max=" MARKER,
	"--ma " MARKER,
	"\"--bid\"=" MARKER,
	"--b\\id=" MARKER,
	"'--max-p' \"" MARKER "\"",
	"--export=SLURM_AUCTION_BID=" MARKER,
	"--export=ALL,SLURM_AUCTION_MAX_PRICE=" MARKER ",A=b",
	"--bid=sigmoid:300," MARKER,
};
/* Variables, also as values of others. */
static const char *const variables[] = {
	"SLURM_AUCTION_BID=" MARKER,
	"SLURM_AUCTION_BID=epochs=2 bid=" MARKER " chunks=3",
	"SPANK_SLURM_AUCTION_BID=" MARKER,
	"SLURM_AUCTION_MAX_PRICE=" MARKER,
	"SLURM_SPANK_SLURM_AUCTION_MAX_PRICE=" MARKER,
	"_SLURM_SPANK_OPTION_auction_bid=" MARKER,
	"_SLURM_SPANK_OPTION_auction_max_price=" MARKER,
	"SLURM_SPANK__SLURM_SPANK_OPTION_auction_bid=" MARKER,
	"SBATCH_EXPORT=A,SLURM_AUCTION_BID=" MARKER,
	"SBATCH_OPTIONS=-n1 --max-p " MARKER " -J x",
	"SALLOC_OPTIONS=--bid=" MARKER,
};
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static void read_record(job_desc_msg_t *d, const uint8_t *data, size_t size);
static char *expand(const uint8_t *data, size_t size, bool variable);
static void set_option(job_desc_msg_t *d, uint8_t field, uint8_t value);
static void add(char ***list, uint32_t *n, char *text);
static void check_options(const job_desc_msg_t *d);
static void check_secrets(job_desc_msg_t *d);
static void check_text(const char *was, const char *is, bool script);
static bool may_have_secret(const char *text, size_t len);
static void check_end(job_desc_msg_t *d);
static void forget(job_desc_msg_t *d);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *nul;
	job_desc_msg_t d;

	if (size > 8000)
		return 0;
	slurm_init_job_desc_msg(&d);
	d.het_job_offset = NO_VAL;
	for (; data < end; data = nul + 1) {
		nul = memchr(data, '\0', (size_t)(end - data));
		nul = nul ? nul : end;
		if (nul > data)
			read_record(&d, data, (size_t)(nul - data));
	}
	check_options(&d);
	check_secrets(&d);
	check_end(&d);
	forget(&d);
	return 0;
}

static void read_record(job_desc_msg_t *d, const uint8_t *data, size_t size)
{
	char *text = expand(data + 1, size - 1, strchr("ek", data[0]));

	if (data[0] == 'l' && !d->submit_line)
		d->submit_line = slurm_xstrdup(text);
	else if (data[0] == 's' && !d->script)
		d->script = slurm_xstrdup(text);
	else if (data[0] == 'e' && d->env_size < VARS)
		add(&d->environment, &d->env_size, size > 1 ? text : NULL);
	else if (data[0] == 'k' && d->spank_job_env_size < VARS)
		add(&d->spank_job_env, &d->spank_job_env_size, text);
	for (size_t i = 1; data[0] == 'o' && i + 1 < size; i += 2)
		set_option(d, data[i], data[i + 1]);
	free(text);
}

/* A planted word stands by itself, behind one that an option in front of it may take for its value;
 * a planted variable is all of its record. */
static char *expand(const uint8_t *data, size_t size, bool variable)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	REQUIRE(out);
	if (variable && size > 1 && data[0] == 1) {
		fputs(variables[data[1] % COUNT(variables)], out);
		size = 0;
	}
	for (size_t i = 0; i < size; i++) {
		if (data[i] == 1 && i + 1 < size && !variable)
			fprintf(out, " - %s ", words[data[++i] % COUNT(words)]);
		else if (data[i] > 2)
			putc(data[i], out);
	}
	REQUIRE(!fclose(out));
	return text;
}

static void set_option(job_desc_msg_t *d, uint8_t field, uint8_t value)
{
	char **strings[] = {
		&d->tres_per_job, &d->tres_per_node, &d->req_nodes,       &d->exc_nodes,
		&d->features,     &d->reservation,   &d->dependency,      &d->licenses,
		&d->burst_buffer, &d->array_inx,     &d->mem_per_tres,    &d->cpus_per_tres,
		&d->partition,    &d->tres_per_task, &d->tres_per_socket, &d->batch_features};
	uint32_t *numbers[] = {&d->time_limit,     &d->time_min,  &d->min_nodes,      &d->max_nodes,
			       &d->num_tasks,      &d->min_cpus,  &d->req_switch,     &d->priority,
			       &d->het_job_offset, &d->task_dist, &d->pn_min_tmp_disk};
	uint16_t *shorts[] = {&d->cpus_per_task,    &d->ntasks_per_node, &d->pn_min_cpus,
			      &d->shared,           &d->contiguous,      &d->immediate,
			      &d->threads_per_core, &d->core_spec,       &d->ntasks_per_tres};

	if (field < 64) {
		char text[40];

		AUC_XFREE(*strings[field % COUNT(strings)]);
		snprintf(text, sizeof(text), "%.*s", value % 40,
			 "abcdefghijklm,nopqr,stuvwxyz:0123456789:");
		*strings[field % COUNT(strings)] = slurm_xstrdup(text);
	} else if (field < 128) {
		*numbers[field % COUNT(numbers)] = value;
	} else if (field < 192) {
		*shorts[field % COUNT(shorts)] = value;
	} else {
		d->bitflags ^= (uint64_t)1 << value % 64;
		d->begin_time = value & 64 ? value : d->begin_time;
	}
}

static void add(char ***list, uint32_t *n, char *text)
{
	AUC_XRECALLOC(*list, *n + 2);
	(*list)[(*n)++] = text ? slurm_xstrdup(text) : NULL;
}

static void check_options(const job_desc_msg_t *d)
{
	static const char *const ends[] = {"leave it out", "leave them out", "for each bid",
					   "is not the auction's", "what each node gives"};
	struct auc_err err = {.text = ""};
	struct auc_bid *bid = calloc(1, sizeof(*bid));
	bool whole = false;
	size_t len;

	if (auc_desc_check(d, true, &err) != AUC_OK)
		REQUIRE(err.code == AUC_EINVAL && *err.text &&
			strlen(err.text) < sizeof(err.text) - 1);
	if (auc_desc_check(d, false, &err) != AUC_OK) {
		len = strlen(err.text);
		REQUIRE(err.code == AUC_EINVAL && len < sizeof(err.text) - 1);
		for (size_t i = 0; i < COUNT(ends); i++)
			whole |= len > strlen(ends[i]) &&
				 !strcmp(err.text + len - strlen(ends[i]), ends[i]);
		REQUIRE(whole);
	}
	REQUIRE(bid);
	if (auc_desc_confine(d, bid, &err) == AUC_OK)
		for (unsigned i = 0; i < bid->npartitions; i++)
			REQUIRE(*bid->partitions[i] && !strchr(bid->partitions[i], ','));
	free(bid);
	(void)auc_desc_is_dry_run(d);
	(void)auc_desc_job_id(d);
}

static void check_secrets(job_desc_msg_t *d)
{
	char *line = d->submit_line ? strdup(d->submit_line) : NULL;
	char *script = d->script ? strdup(d->script) : NULL;

	auc_desc_forget_secrets(d);
	REQUIRE(!auc_desc_bid(d));
	check_text(line, d->submit_line, false);
	check_text(script, d->script, true);
	for (uint32_t i = 0; i < d->env_size; i++)
		REQUIRE(!d->environment[i] || !strstr(d->environment[i], MARKER) ||
			strncmp(d->environment[i], "SLURM_AUCTION_", 14));
	for (uint32_t i = 0; i < d->spank_job_env_size; i++)
		REQUIRE(!strstr(d->spank_job_env[i], MARKER));
	free(line);
	free(script);
}

/* Line by line: what may have a secret has no marker any more, and only blanks for what it had,
 * which may be the value of an option in a line before; everything else is as it was. */
static void check_text(const char *was, const char *is, bool script)
{
	const char *end;

	if (!was)
		return;
	REQUIRE(strlen(was) == strlen(is));
	for (const char *line = was; *line; line = *end ? end + 1 : end) {
		size_t len = script ? strcspn(line, "\n") : strlen(line);
		const char *now = is + (line - was);
		bool read = !script || !strncmp(line, "#SBATCH", 7);

		end = line + len;
		if (read)
			REQUIRE(!memmem(now, len, MARKER, strlen(MARKER)));
		for (size_t i = 0; i < len; i++)
			REQUIRE(now[i] == line[i] ||
				(read && now[i] == ' ' &&
				 may_have_secret(was, (size_t)(line - was) + i)));
		REQUIRE(is[end - was] == *end);
	}
}

/* What is in front of it has an option, or a variable, of a bid. */
static bool may_have_secret(const char *text, size_t len)
{
	char plain[9000];
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (!strchr("\"'\\", text[i]))
			plain[n++] = text[i];
	plain[n] = '\0';
	return strstr(plain, "--bi") || strstr(plain, "--ma") ||
	       strstr(plain, "SLURM_AUCTION_BID=") || strstr(plain, "SLURM_AUCTION_MAX_PRICE=");
}

/* The environment has what a sold job has, and nothing of the bid; the script lives through the
 * signal of a change. */
static void check_end(job_desc_msg_t *d)
{
	char *script = d->script ? strdup(d->script) : NULL;
	size_t first = script ? strcspn(script, "\n") : 0;
	bool any = d->environment;
	uint32_t n;

	auc_desc_environment(d, "ab12-7", 1700000000, 1700000300);
	n = d->env_size;
	REQUIRE(any ? n >= 3 && !d->environment[n] : !n);
	for (uint32_t i = 0; any && i + 3 < n; i++)
		for (unsigned k = 0; d->environment[i] && k < auc_bid_nkeys; k++) {
			size_t len = strlen(auc_bid_keys[k].env);

			REQUIRE(strncmp(d->environment[i], auc_bid_keys[k].env, len) ||
				d->environment[i][len] != '=');
		}
	REQUIRE(!any || !strcmp(d->environment[n - 3], AUC_ENV_SALE "=ab12-7"));
	auc_desc_trap(d, 10);
	if (script && strcmp(script, d->script)) {
		REQUIRE(!strncmp(script, "#!", 2) && script[first] == '\n');
		REQUIRE(!strncmp(d->script, script, first));
		REQUIRE(!strncmp(d->script + first, "\ntrap : 10\n", 11));
		REQUIRE(!strcmp(d->script + first + 10, script + first));
	}
	free(script);
}

static void forget(job_desc_msg_t *d)
{
	char **strings[] = {&d->tres_per_job,   &d->tres_per_node, &d->req_nodes,
			    &d->exc_nodes,      &d->features,      &d->reservation,
			    &d->dependency,     &d->licenses,      &d->burst_buffer,
			    &d->array_inx,      &d->mem_per_tres,  &d->cpus_per_tres,
			    &d->partition,      &d->tres_per_task, &d->tres_per_socket,
			    &d->batch_features, &d->script,        &d->submit_line};

	for (size_t i = 0; i < COUNT(strings); i++)
		AUC_XFREE(*strings[i]);
	for (uint32_t i = 0; i < d->env_size; i++)
		AUC_XFREE(d->environment[i]);
	for (uint32_t i = 0; i < d->spank_job_env_size; i++)
		AUC_XFREE(d->spank_job_env[i]);
	AUC_XFREE(d->environment);
	AUC_XFREE(d->spank_job_env);
}
