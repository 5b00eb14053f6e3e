/*
 * fuzz_spool.c - any bytes as a spool: as its two files, or (so that what is behind the checksums
 * is reached) as lines of payload that get the right sums and numbers here. A spool that is refused
 * stays as it is. One that is read gives an auction whose sums hold and whose market has nothing
 * above its capacity; a snapshot of it, read again, gives the same auction.
 *
 * The input's first line is "raw", "framed POLICY" or "format1 POLICY" (lines of the format before
 * accounts); a line "=" parts the state from the journal.
 * In a framed journal a line that begins with '+' is not the last one of its commit.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xxhash.h>

#include "auction/auction-private.h"
#include "base/check.h"
#include "fuzz/fuzz.h"

#define NOW (300.0 * 1000000)

static const char *const policies[] = {
	"Policy=dps\nSlots=100\nPrices=learned\nHistoryBids=20\n",
	"Policy=eris\nSlots=60\nTransferBudget=50\nPrices=published\n",
	"Policy=aonline\nSlots=200\nChangeNotice=30\n",
	"Policy=posted,seed=4\nSlots=100\nOfferTime=600\n",
};
#define POLICIES (sizeof(policies) / sizeof(*policies))

static const char types[] = "SlotSeconds=300\nPartitionName=edge Site=edge\n"
			    "PartitionName=cloud Site=cloud Upload=600\n"
			    "WorkerType=v100 TRES=cpu=4,mem=8192,gpu:v100=1 Bandwidth=1024\n"
			    "WorkerType=t4 TRES=cpu=4,mem=8192,gpu:t4=1 Bandwidth=1024\n"
			    "PSType=ps.m TRES=cpu=2,mem=4096 Bandwidth=8192\n";

#define EDGE                                                                                       \
	.partition = "edge", .ncapacity = 3,                                                       \
	.capacity = {{"cpu", 24}, {"mem", 65536}, {"gpu:v100", 2}}
static const struct auc_server_spec servers[] = {
	{.name = "edge1", EDGE},
	{.name = "edge2", EDGE},
	{.name = "big1",
	 .partition = "cloud",
	 .ncapacity = 3,
	 .capacity = {{"cpu", 64}, {"mem", 262144}, {"gpu:t4", 4}}},
};

static char dir[64], paths[2][80];
static const char *const names[] = {"state", "journal"};

struct bytes {
	char *data;
	size_t size;
};

static unsigned write_files(char *text, size_t size);
static void write_raw(unsigned file, const char *text, size_t size);
static void write_framed(unsigned file, char *text, unsigned format);
static void write_line(FILE *out, const char *line);
static struct bytes file_read(unsigned file);
static void file_is(unsigned file, struct bytes was);
static void make_directory(void);
static struct auc_auction *make_auction(unsigned policy);
static void check_auction(struct auc_auction *a);
static void accounts_by_name(struct json_object *o);
static struct json_object *look(struct auc_auction *a);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct auc_err err = {.text = ""};
	struct auc_spool_report report;
	struct json_object *before = NULL, *after = NULL;
	struct bytes was[2];
	struct auc_auction *a;
	enum auc_code rc;
	unsigned policy;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	make_directory();
	policy = write_files(text, size);
	free(text);
	was[0] = file_read(0);
	was[1] = file_read(1);
	auc_check_forget();
	a = make_auction(policy);
	rc = auc_auction_open_spool(a, dir, NOW, &report, &err);
	if (rc != AUC_OK && rc != AUC_EFULL) {
		REQUIRE(err.code == rc && *err.text && auc_auction_ready(a, NULL) == AUC_ESTATE);
		file_is(0, was[0]);
		file_is(1, was[1]);
		REQUIRE(!auc_ledger_count(a->ledger));
	} else {
		REQUIRE(rc == AUC_OK || *err.text);
		check_auction(a);
		before = look(a);
		a->snapshot_at = 0; /* now */
		REQUIRE(auc_auction_commit(a, &err) == AUC_OK && !*a->warning);
		auc_auction_destroy(a);
		a = make_auction(policy);
		rc = auc_auction_open_spool(a, dir, NOW, &report, &err);
		if (rc != AUC_OK && rc != AUC_EFULL)
			fprintf(stderr, "%s\n", err.text);
		REQUIRE(rc == AUC_OK || rc == AUC_EFULL);
		REQUIRE(!report.skipped && !report.journal_records && !report.torn_bytes);
		check_auction(a);
		after = look(a);
		if (!json_object_equal(before, after))
			fprintf(stderr, "%s\n%s\n", json_object_to_json_string(before),
				json_object_to_json_string(after));
		REQUIRE(json_object_equal(before, after));
	}
	json_object_put(before);
	json_object_put(after);
	free(was[0].data);
	free(was[1].data);
	auc_auction_destroy(a);
	REQUIRE(!auc_check_evidence());
	return 0;
}

/* The policy that is to read them. */
static unsigned write_files(char *text, size_t size)
{
	char *end = text + size, *rest = memchr(text, '\n', size), *parts[2];
	bool old = !strncmp(text, "format1 ", 8), framed = old || !strncmp(text, "framed ", 7);
	unsigned policy = 0;

	rest = rest ? rest : end;
	for (unsigned i = 0; i < POLICIES && framed; i++)
		if (!strncmp(text + 7 + old, policies[i] + strlen("Policy="), 3))
			policy = i;
	parts[0] = rest < end ? rest + 1 : end;
	parts[1] = memmem(parts[0], (size_t)(end - parts[0]), "=\n", 2);
	if (!parts[1])
		parts[1] = end;
	for (unsigned i = 0; i < 2; i++) {
		char *to = i ? end : parts[1], *from = parts[i] + (i && parts[1] < end ? 2 : 0);

		if (framed) {
			*to = i ? '\0' : *to == '=' ? '\0' : *to;
			write_framed(i, from, old ? 1 : AUC_SPOOL_FORMAT);
		} else {
			write_raw(i, from, (size_t)(to - from));
		}
	}
	return policy;
}

static void write_raw(unsigned file, const char *text, size_t size)
{
	FILE *out = fopen(paths[file], "we");

	REQUIRE(out && fwrite(text, 1, size, out) == size && !fclose(out));
}

static void write_framed(unsigned file, char *text, unsigned format)
{
	FILE *out = fopen(paths[file], "we");
	char *save = NULL, *line;
	size_t room = strlen(text) + 64;
	uint64_t n = 0;

	REQUIRE(out && (line = malloc(room)));
	snprintf(line, room, "auction-%s %u 0", names[file], format);
	write_line(out, line);
	for (char *p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
		bool goes_on = file && *p == '+';

		snprintf(line, room, "%" PRIu64 " %c %s", ++n, goes_on ? '+' : '.', p + goes_on);
		write_line(out, line);
	}
	snprintf(line, room, "end %" PRIu64, n);
	if (!file)
		write_line(out, line);
	free(line);
	REQUIRE(!fclose(out));
}

static void write_line(FILE *out, const char *line)
{
	fprintf(out, "%016" PRIx64 " %s\n", (uint64_t)XXH3_64bits(line, strlen(line)), line);
}

static struct bytes file_read(unsigned file)
{
	FILE *in = fopen(paths[file], "re");
	struct bytes b = {.size = 0};
	struct stat st;

	REQUIRE(in && !fstat(fileno(in), &st));
	b.size = (size_t)st.st_size;
	b.data = malloc(b.size + 1);
	REQUIRE(b.data && fread(b.data, 1, b.size, in) == b.size);
	fclose(in);
	return b;
}

static void file_is(unsigned file, struct bytes was)
{
	struct bytes is = file_read(file);

	REQUIRE(is.size == was.size && !memcmp(is.data, was.data, is.size));
	free(is.data);
}

static void remove_directory(void)
{
	char path[80];

	for (unsigned i = 0; i < 2; i++)
		unlink(paths[i]);
	snprintf(path, sizeof(path), "%s/lock", dir);
	unlink(path);
	rmdir(dir);
}

/* In memory, where it can be. */
static void make_directory(void)
{
	if (*dir)
		return;
	snprintf(dir, sizeof(dir), "%s/fuzz-spool-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	REQUIRE(mkdtemp(dir));
	for (unsigned i = 0; i < 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", dir, names[i]);
	atexit(remove_directory);
}

static struct auc_auction *make_auction(unsigned policy)
{
	struct auc_auction *a;
	struct auc_conf *conf;
	struct auc_err err;
	char text[1024];
	int n = snprintf(text, sizeof(text), "%s%s", policies[policy], types);

	if (auc_conf_parse(text, (size_t)n, "auction.conf", &conf, &err) != AUC_OK ||
	    auc_auction_create(conf, &a, &err) != AUC_OK ||
	    auc_auction_set_servers(a, servers, sizeof(servers) / sizeof(*servers), NOW, &err) !=
		    AUC_OK) {
		fprintf(stderr, "%s\n", err.text);
		REQUIRE(false);
	}
	return a;
}

/* The sums hold, reckoned here and there, and nothing is sold beyond what there is. */
static void check_auction(struct auc_auction *a)
{
	const struct auc_totals *t = auc_ledger_totals(a->ledger);
	const struct auc_books *books = auc_ledger_books(a->ledger);
	auc_money live = 0;
	__int128 sum = 0;

	REQUIRE(auc_auction_ready(a, NULL) == AUC_OK);
	REQUIRE(auc_ledger_check(a->ledger, NULL) == AUC_OK &&
		auc_ledger_audit(a->ledger, NULL) == AUC_OK && auc_market_sound(a->market));
	for (unsigned i = 0; i < auc_ledger_count(a->ledger); i++) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		REQUIRE(s->job_id && s->payment >= 0 && s->payment <= s->value && s->bid);
		REQUIRE(s->state == AUC_SALE_SOLD || s->state == AUC_SALE_RUNNING);
		REQUIRE(auc_ledger_find(a->ledger, s->id) == s &&
			auc_ledger_find_job(a->ledger, s->job_id) == s);
		REQUIRE(!s->plan.nruns || auc_plan_check(&s->plan, NULL) == AUC_OK);
		live += s->payment;
	}
	REQUIRE(t->charged - t->refunded == t->settled_revenue + live);
	REQUIRE(t->refunded >= 0 && t->settled_revenue >= 0);
	for (unsigned i = 0; i < auc_books_count(books); i++) {
		const struct auc_account *account = auc_books_at(books, i);

		REQUIRE(account->credits >= 0 && account->debits >= 0 && !account->pending);
		REQUIRE(auc_books_find(books, account->name) == account);
		sum += account->credits;
		sum -= account->debits;
	}
	REQUIRE(!sum);
}

/* A snapshot has them in that order, and without those that never moved anything. */
static void accounts_by_name(struct json_object *o)
{
	struct json_object *list = json_object_object_get(o, "money");
	struct json_object *named = json_object_new_object();

	REQUIRE(named);
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *a = json_object_array_get_idx(list, i);
		const char *name = json_object_get_string(json_object_object_get(a, "account"));
		const char *in = json_object_get_string(json_object_object_get(a, "credits"));
		const char *out = json_object_get_string(json_object_object_get(a, "debits"));

		if (i > 2 && !strcmp(in, "0.000000") && !strcmp(out, "0.000000") &&
		    !json_object_get_boolean(json_object_object_get(a, "limited")))
			continue;
		REQUIRE(!json_object_object_get_ex(named, name, NULL));
		json_object_object_add(named, name, json_object_get(a));
	}
	json_object_object_add(o, "money", named);
}

/* What is the same after a snapshot. */
static struct json_object *look(struct auc_auction *a)
{
	struct json_object *o = auc_auction_status(a, NOW);

	REQUIRE(o);
	accounts_by_name(o);
	json_object_object_del(o, "activity");
	json_object_object_del(o, "warning"); /* of records that are not in the snapshot */
	return o;
}
