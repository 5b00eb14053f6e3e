/*
 * conf.c - see conf.h. keys[] below is the whole of what the file may say: it parses, bounds, fills
 * defaults, words the errors, prints the configuration and prints the manual's list. The text is
 * cut into words first; then the lines are read by the section that their first word opens, globals
 * first and models last, so that the order of lines does not matter; references are checked at the
 * end.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "num.h"
#include "policy/policy.h"
#include "text.h"

#define FILE_MAX       (1024 * 1024) /* bytes of an auction.conf */
#define PARTITIONS_MAX 64
#define MODELS_MAX     256
#define AMOUNT_MIN     1e-9 /* of a TRES in one worker or PS */
#define AMOUNT_MAX     1e12
#define ETA_MAX        1e12
#define SECONDS_MAX    1e9
#define DAY            86400.0
#define NOTICE_MIN     5.0 /* seconds of ChangeNotice, where the file does not say it */
#define NOTICE_MAX     60.0

enum section { GLOBAL, PARTITION, WORKER_TYPE, PS_TYPE, MODEL, NSECTIONS };

enum type {
	TYPE_NAME,     /* char[AUC_NAME_MAX] */
	TYPE_NEW_NAME, /* the same, opens a line and must be unique */
	TYPE_POLICY,   /* policy and policy_options */
	TYPE_COUNT,    /* unsigned */
	TYPE_COUNT64,  /* uint64_t, 0: not given */
	TYPE_NUMBER,   /* double, < 0: not given */
	TYPE_SPAN,     /* double, seconds */
	TYPE_CHOICE,   /* bool: the second of "no|yes" */
	TYPE_ONE_OF,   /* unsigned: which of "a|b|c" */
	TYPE_TEXT,     /* char *, malloc'd */
	TYPE_PATH,     /* the same, absolute */
	TYPE_AMOUNTS,  /* TRES=number,... */
	TYPE_TIMES,    /* type=span,... */
};

/* One key. */
struct key {
	enum section section;
	const char *name;
	enum type type;
	size_t offset, count; /* of the value in its struct; of the number of a list's entries */
	unsigned limit;       /* entries of a list at most */
	double min, max;
	const char *choices;
	const char *preset; /* default as it would be written; NULL: none */
	bool required;
	const char *help;
};

#define IN_CONF(member)  offsetof(struct auc_conf, member)
#define IN_PART(member)  offsetof(struct auc_conf_partition, member)
#define IN_TYPE(member)  offsetof(struct auc_conf_type, member)
#define IN_MODEL(member) offsetof(struct auc_conf_model, member)

/* clang-format off */
static const struct key keys[] = {
	{.section = GLOBAL, .name = "Policy", .type = TYPE_POLICY, .preset = "dps",
	 .help = "How schedules are found and priced, with the options of that policy."},
	{.section = GLOBAL, .name = "SlotSeconds", .type = TYPE_SPAN, .offset = IN_CONF(slot_seconds),
	 .min = 1, .max = 7 * DAY, .preset = "300",
	 .help = "Length of a slot, the unit of time that is sold."},
	{.section = GLOBAL, .name = "Slots", .type = TYPE_COUNT, .offset = IN_CONF(slots),
	 .min = 1, .max = AUC_SLOTS_MAX, .preset = "288",
	 .help = "How many slots ahead are for sale."},
	{.section = GLOBAL, .name = "StartMargin", .type = TYPE_SPAN, .offset = IN_CONF(start_margin),
	 .min = 0, .max = DAY, .preset = "2",
	 .help = "A slot that begins sooner than this after the submission is not sold to it."},
	{.section = GLOBAL, .name = "LateStart", .type = TYPE_SPAN, .offset = IN_CONF(late_start),
	 .min = 0, .max = DAY, .preset = "0",
	 .help = "A slot that began no longer ago than this is sold, too, at its full price: the job starts at once. 0: jobs "
		 "wait for a slot to begin. Less than SlotSeconds."},
	{.section = GLOBAL, .name = "EndMargin", .type = TYPE_SPAN, .offset = IN_CONF(end_margin),
	 .min = 0, .max = DAY, .preset = "1",
	 .help = "A job's time limit ends this long before its last slot does, so that the next one starts on a free node. "
		 "Less than SlotSeconds."},
	{.section = GLOBAL, .name = "ChangeNotice", .type = TYPE_SPAN, .offset = IN_CONF(change_notice),
	 .min = 0, .max = DAY,
	 .help = "How long before its layout changes a job is told. At most half of SlotSeconds. Default: a tenth of SlotSeconds, "
		 "but 5 s at least and 60 s at most."},
	{.section = GLOBAL, .name = "ChangeSignal", .type = TYPE_NAME, .offset = IN_CONF(change_signal), .preset = "USR1",
	 .help = "The signal that tells it, such as USR1, URG or WINCH; none: no signal."},
	{.section = GLOBAL, .name = "LienSeconds", .type = TYPE_SPAN, .offset = IN_CONF(lien_seconds),
	 .min = 1, .max = 3600, .preset = "10",
	 .help = "How long a plan is held for a submission until its job is seen."},
	{.section = GLOBAL, .name = "Prices", .type = TYPE_ONE_OF, .offset = IN_CONF(prices),
	 .choices = "none|given|published|flat|learned", .preset = "learned",
	 .help = "Where prices come from. none: everything that is free costs nothing. given: Eta (Policy=oasis: Lower and Upper). "
		 "published: the function of the policy's paper, its parameters learned from past bids. flat: one price for each "
		 "TRES, fitted to past bids. learned: prices for each class of nodes and slot, or none, or the published, or flat ones, "
		 "whichever past bids, replayed, say is best; published ones until there are bids to learn from."},
	{.section = GLOBAL, .name = "Eta", .type = TYPE_AMOUNTS, .offset = IN_CONF(eta), .count = IN_CONF(neta),
	 .limit = AUC_TRES_MAX, .min = 1, .max = ETA_MAX,
	 .help = "Base of the price function for each TRES; one that is not named has base 1 and is free. With "
		 "Prices=published or learned: what the base is at least."},
	{.section = GLOBAL, .name = "Lower", .type = TYPE_AMOUNTS, .offset = IN_CONF(bounds.lower), .count = IN_CONF(bounds.nlower),
	 .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Policy=oasis: unit price of each TRES where nothing is sold, 0 for one that is not named. With "
		 "Prices=published or learned: what it is at least."},
	{.section = GLOBAL, .name = "Upper", .type = TYPE_AMOUNTS, .offset = IN_CONF(bounds.upper), .count = IN_CONF(bounds.nupper),
	 .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Policy=oasis: unit price of each TRES where all of it is sold; one that is not named is free. With "
		 "Prices=published or learned: what it is at least."},
	{.section = GLOBAL, .name = "PSLower", .type = TYPE_AMOUNTS, .offset = IN_CONF(ps_bounds.lower),
	 .count = IN_CONF(ps_bounds.nlower), .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Lower of servers that host PSs. Needs PSUpper."},
	{.section = GLOBAL, .name = "PSUpper", .type = TYPE_AMOUNTS, .offset = IN_CONF(ps_bounds.upper),
	 .count = IN_CONF(ps_bounds.nupper), .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Upper of servers that host PSs; one that hosts workers, too, has the lower Lower and the higher Upper of both. "
		 "Default: the same as Lower and Upper."},
	{.section = GLOBAL, .name = "HistoryBids", .type = TYPE_COUNT, .offset = IN_CONF(history_bids),
	 .min = 1, .max = 10000, .preset = "1000",
	 .help = "How many of the last bids prices are learned from."},
	{.section = GLOBAL, .name = "SpoolDir", .type = TYPE_PATH, .offset = IN_CONF(spool_dir),
	 .help = "Directory of the price state. Default: auction in StateSaveLocation."},
	{.section = GLOBAL, .name = "DefaultBid", .type = TYPE_TEXT, .offset = IN_CONF(default_bid),
	 .help = "Bid of a job that comes to an auction partition without one, words key=value in quotes or separated by "
		 "';'. Default: such a job is refused."},
	{.section = GLOBAL, .name = "DefaultModel", .type = TYPE_NAME, .offset = IN_CONF(default_model),
	 .help = "Model that fills what a bid without a model leaves out."},
	{.section = GLOBAL, .name = "RefundUnused", .type = TYPE_CHOICE, .offset = IN_CONF(refund_unused),
	 .choices = "no|yes", .preset = "no",
	 .help = "Whether a job that ends early gets back the share of its payment for whole slots it did not begin."},

	{.section = GLOBAL, .name = "Fence", .type = TYPE_ONE_OF, .offset = IN_CONF(fence),
	 .choices = "no|yes|auto", .preset = "auto",
	 .help = "Whether nodes are reserved for the times that are sold, so that other partitions' jobs stay out: all that "
		 "are sold, none, or those that are in another partition, too."},
	{.section = GLOBAL, .name = "PowerUpLead", .type = TYPE_SPAN, .offset = IN_CONF(power_up_lead),
	 .min = 0, .max = DAY, .preset = "0",
	 .help = "How long before its slot a node that is powered down is powered up. 0: ResumeTimeout of slurm.conf."},

	{.section = PARTITION, .name = "PartitionName", .type = TYPE_NEW_NAME, .offset = IN_PART(name), .required = true,
	 .help = "Opens the line of a partition of slurm.conf whose nodes are sold."},
	{.section = PARTITION, .name = "Site", .type = TYPE_CHOICE, .offset = IN_PART(cloud),
	 .choices = "edge|cloud", .preset = "edge",
	 .help = "Whether its nodes are near the data or in the cloud."},
	{.section = PARTITION, .name = "Roles", .type = TYPE_ONE_OF, .offset = IN_PART(roles),
	 .choices = "both|worker|ps", .preset = "both",
	 .help = "What its nodes may host: workers, PSs or both. OASiS keeps them apart."},
	{.section = PARTITION, .name = "Upload", .type = TYPE_SPAN, .offset = IN_PART(upload_seconds),
	 .min = 0, .max = SECONDS_MAX, .preset = "0",
	 .help = "Time until a job's data are on its nodes, unless the bid says otherwise."},
	{.section = PARTITION, .name = "OneServer", .type = TYPE_CHOICE, .offset = IN_PART(one_server),
	 .choices = "no|yes", .preset = "no",
	 .help = "Whether its nodes are one large server, as a cloud is: what a schedule has there, workers and PSs of a co-located job, "
		 "too, is spread over as many of them as it takes."},

	{.section = PARTITION, .name = "Bandwidth", .type = TYPE_NUMBER, .offset = IN_PART(bandwidth_mbps),
	 .min = 0, .max = 1e9, .preset = "0",
	 .help = "Network bandwidth at which a job's data get to its nodes, in Mbit/s: with the bid's --data-mb the time "
		 "until they are there, instead of Upload. 0: not known."},

	{.section = WORKER_TYPE, .name = "WorkerType", .type = TYPE_NEW_NAME, .offset = IN_TYPE(name), .required = true,
	 .help = "Opens the line of a kind of worker."},
	{.section = WORKER_TYPE, .name = "TRES", .type = TYPE_AMOUNTS, .offset = IN_TYPE(tres), .count = IN_TYPE(ntres),
	 .limit = AUC_TRES_MAX, .min = AMOUNT_MIN, .max = AMOUNT_MAX, .required = true,
	 .help = "What one worker takes of a node: cpu, mem (in MB), gpu or gpu:TYPE."},
	{.section = WORKER_TYPE, .name = "Bandwidth", .type = TYPE_NUMBER, .offset = IN_TYPE(bandwidth_mbps),
	 .min = 1e-3, .max = 1e9, .preset = "1000",
	 .help = "Network bandwidth one worker has, in Mbit/s."},
	{.section = PS_TYPE, .name = "PSType", .type = TYPE_NEW_NAME, .offset = IN_TYPE(name), .required = true,
	 .help = "Opens the line of a kind of parameter server."},
	{.section = PS_TYPE, .name = "TRES", .type = TYPE_AMOUNTS, .offset = IN_TYPE(tres), .count = IN_TYPE(ntres),
	 .limit = AUC_TRES_MAX, .min = AMOUNT_MIN, .max = AMOUNT_MAX, .required = true,
	 .help = "What one PS takes of a node."},
	{.section = PS_TYPE, .name = "Bandwidth", .type = TYPE_NUMBER, .offset = IN_TYPE(bandwidth_mbps),
	 .min = 1e-3, .max = 1e9, .preset = "10000",
	 .help = "Network bandwidth one PS has, in Mbit/s."},

	{.section = MODEL, .name = "Model", .type = TYPE_NEW_NAME, .offset = IN_MODEL(name), .required = true,
	 .help = "Opens the line of a profile that bids can take their work from."},
	{.section = MODEL, .name = "Epochs", .type = TYPE_COUNT64, .offset = IN_MODEL(epochs),
	 .min = 1, .max = AUC_WORK_MAX, .help = "Passes over the data set."},
	{.section = MODEL, .name = "Chunks", .type = TYPE_COUNT64, .offset = IN_MODEL(chunks),
	 .min = 1, .max = AUC_WORK_MAX, .help = "Chunks of the data set."},
	{.section = MODEL, .name = "Minibatches", .type = TYPE_COUNT64, .offset = IN_MODEL(minibatches),
	 .min = 1, .max = AUC_WORK_MAX, .help = "Mini-batches in one chunk."},
	{.section = MODEL, .name = "GradientMB", .type = TYPE_NUMBER, .offset = IN_MODEL(gradient_mb),
	 .min = 0, .max = 1e9, .help = "Size of the gradients, in MB."},
	{.section = MODEL, .name = "WorkerTime", .type = TYPE_TIMES, .offset = IN_MODEL(worker_seconds),
	 .count = IN_MODEL(nworkers), .limit = AUC_BID_TYPES_MAX, .min = 1e-9, .max = SECONDS_MAX,
	 .help = "Time of one mini-batch on each worker type the model runs on."},
	{.section = MODEL, .name = "PSTime", .type = TYPE_TIMES, .offset = IN_MODEL(ps_seconds),
	 .count = IN_MODEL(nps), .limit = AUC_BID_TYPES_MAX, .min = 0, .max = SECONDS_MAX,
	 .help = "Time of one parameter update on each PS type."},
};
/* clang-format on */
#define NKEYS (sizeof(keys) / sizeof(keys[0]))

/* Lists in struct auc_conf that lines of a section add to. */
static const struct list {
	size_t items, count, size;
	unsigned limit;
} lists[NSECTIONS] = {
	[PARTITION] = {IN_CONF(partitions), IN_CONF(npartitions), sizeof(struct auc_conf_partition),
		       PARTITIONS_MAX},
	[WORKER_TYPE] = {IN_CONF(worker_types), IN_CONF(nworker_types),
			 sizeof(struct auc_conf_type), AUC_TYPES_MAX},
	[PS_TYPE] = {IN_CONF(ps_types), IN_CONF(nps_types), sizeof(struct auc_conf_type),
		     AUC_TYPES_MAX},
	[MODEL] = {IN_CONF(models), IN_CONF(nmodels), sizeof(struct auc_conf_model), MODELS_MAX},
};

struct word {
	char *key, *value; /* one allocation, KEY's */
	unsigned line;
	bool first; /* of its line */
};

struct parser {
	const char *file;
	const char *p, *end; /* what is not read yet */
	unsigned line;
	bool line_begins;
	struct word *words;
	size_t nwords, alloc;
	const struct word *global[NKEYS]; /* where a global key was set */
	struct auc_conf *conf;
	struct auc_err *err;
};

static enum auc_code read_file(const char *path, char **text, size_t *len, struct auc_err *err);
static enum auc_code check_text(struct parser *p, const char *text, size_t len);
static enum auc_code cut_words(struct parser *p);
static void skip_blank(struct parser *p);
static enum auc_code cut_word(struct parser *p);
static int shown(size_t n);
static size_t value_length(const struct parser *p, const char *value);
static enum auc_code push_word(struct parser *p, const char *key, size_t nkey, const char *value,
			       size_t nvalue);
static enum auc_code read_sections(struct parser *p);
static enum auc_code read_line(struct parser *p, enum section section, const struct word *word,
			       size_t n);
static enum auc_code read_word(struct parser *p, enum section section, void *base,
			       const struct word *word, bool *seen);
static enum auc_code add_item(struct parser *p, enum section section, const struct word *word,
			      void **item);
static enum auc_code fill_presets(struct parser *p, enum section section, void *base,
				  const bool *seen, const struct word *word);
static enum section section_of(const struct word *word);
static const struct key *find_key(enum section section, const char *name);
static const struct key *head_of(enum section section);
static enum auc_code set_value(struct parser *p, const struct key *key, void *base,
			       const char *value, struct auc_err *err);
static enum auc_code set_name(const struct key *key, void *base, const char *value,
			      struct auc_err *err);
static enum auc_code set_policy(struct auc_conf *conf, const char *value, struct auc_err *err);
static enum auc_code set_choice(const struct key *key, void *base, const char *value,
				struct auc_err *err);
static enum auc_code set_one_of(const struct key *key, void *base, const char *value);
static enum auc_code set_text(const struct key *key, void *base, const char *value,
			      struct auc_err *err);
static enum auc_code set_list(struct parser *p, const struct key *key, void *base,
			      const char *value, struct auc_err *err);
static enum auc_code set_span(struct parser *p, const struct key *key, void *base,
			      const char *value, struct auc_err *err);
static enum auc_code check_all(struct parser *p);
static enum auc_code check_roles(struct parser *p);
static enum auc_code check_tres(struct parser *p);
static bool sells_by_prices(const struct auc_conf *conf);
static enum auc_code check_prices(struct parser *p);
static enum auc_code check_price_names(struct parser *p, const char *key,
				       const struct auc_named *list, unsigned n);
static enum auc_code check_lower(struct parser *p, const char *key,
				 const struct auc_conf_bounds *b);
static enum auc_code check_models(struct parser *p, const struct word *word, size_t n,
				  const struct auc_conf_model *model);
static enum auc_code check_defaults(struct parser *p);
static enum auc_code check_change(struct parser *p);
static bool type_uses(const struct auc_conf_type *types, unsigned n, const char *tres);
static const struct word *global_word(const struct parser *p, const char *name);
static void describe(const struct key *key, char *buf, size_t size);
static enum auc_code word_error(struct parser *p, const struct word *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void print_section(const struct auc_conf *conf, enum section section, const void *base,
			  FILE *out);
static bool print_value(const struct auc_conf *conf, const struct key *key, const void *base,
			FILE *out);
static const void *find_item(const struct auc_conf *conf, enum section section, const char *name);
static bool same_word(const char *a, const char *b);
static void parser_clear(struct parser *p);

enum auc_code auc_conf_load(const char *path, struct auc_conf **conf, struct auc_err *err)
{
	enum auc_code rc;
	char *text = NULL;
	size_t len;

	*conf = NULL;
	rc = read_file(path, &text, &len, err);
	if (rc != AUC_OK)
		return rc;
	rc = auc_conf_parse(text, len, path, conf, err);
	free(text);
	return rc;
}

enum auc_code auc_conf_parse(const char *text, size_t len, const char *name, struct auc_conf **conf,
			     struct auc_err *err)
{
	struct parser p = {.file = name, .line = 1, .line_begins = true, .err = err};
	enum auc_code rc;

	*conf = NULL;
	p.conf = calloc(1, sizeof(*p.conf));
	if (!p.conf)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
	rc = check_text(&p, text, len);
	if (rc == AUC_OK)
		rc = cut_words(&p);
	if (rc == AUC_OK)
		rc = read_sections(&p);
	if (rc == AUC_OK)
		rc = check_all(&p);
	if (rc == AUC_OK) {
		*conf = p.conf;
		p.conf = NULL;
	}
	parser_clear(&p);
	return rc;
}

void auc_conf_free(struct auc_conf *conf)
{
	if (!conf)
		return;
	free(conf->spool_dir);
	free(conf->default_bid);
	free(conf->partitions);
	free(conf->worker_types);
	free(conf->ps_types);
	free(conf->models);
	free(conf);
}

const struct auc_conf_partition *auc_conf_partition(const struct auc_conf *conf, const char *name)
{
	return find_item(conf, PARTITION, name);
}

const struct auc_conf_type *auc_conf_worker_type(const struct auc_conf *conf, const char *name)
{
	return find_item(conf, WORKER_TYPE, name);
}

const struct auc_conf_type *auc_conf_ps_type(const struct auc_conf *conf, const char *name)
{
	return find_item(conf, PS_TYPE, name);
}

const struct auc_conf_model *auc_conf_model(const struct auc_conf *conf, const char *name)
{
	return find_item(conf, MODEL, name);
}

bool auc_conf_learns(const struct auc_conf *conf)
{
	return conf->prices == AUC_PRICES_PUBLISHED || auc_conf_fits(conf);
}

bool auc_conf_fits(const struct auc_conf *conf)
{
	return conf->prices == AUC_PRICES_FLAT || conf->prices == AUC_PRICES_LEARNED;
}

const char *auc_prices_word(unsigned prices)
{
	static const char *const words[] = {"none", "given", "published", "flat", "learned"};

	return words[prices];
}

int auc_conf_change_signal(const struct auc_conf *conf)
{
	const char *name = conf->change_signal;

	if (!strcasecmp(name, "none"))
		return 0;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int i = 1; i < SIGRTMIN; i++)
		if (sigabbrev_np(i) && !strcasecmp(name, sigabbrev_np(i)))
			return i;
	return -1;
}

void auc_conf_print(const struct auc_conf *conf, FILE *out)
{
	enum section section;
	const char *items;
	unsigned i, n;

	print_section(conf, GLOBAL, conf, out);
	for (section = PARTITION; section < NSECTIONS; section++) {
		items = *(char *const *)((const char *)conf + lists[section].items);
		n = *(const unsigned *)((const char *)conf + lists[section].count);
		for (i = 0; i < n; i++)
			print_section(conf, section, items + i * lists[section].size, out);
	}
}

void auc_conf_print_keys(FILE *out)
{
	const struct key *key;
	char range[128];

	for (key = keys; key < keys + NKEYS; key++) {
		describe(key, range, sizeof(range));
		fprintf(out, "%s\t%s\t%s\t%s\t%s\n",
			key->section == GLOBAL ? "" : head_of(key->section)->name, key->name, range,
			key->preset ? key->preset : "", key->help);
	}
}

static enum auc_code read_file(const char *path, char **text, size_t *len, struct auc_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = 0;
	char *buf = NULL;

	*len = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		goto failed;
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return auc_err_set(err, AUC_EIO, "%s: not a regular file", path);
	}
	buf = malloc(FILE_MAX + 1);
	if (!buf)
		goto failed;
	while (*len <= FILE_MAX && (n = read(fd, buf + *len, FILE_MAX + 1 - *len)) > 0)
		*len += (size_t)n;
	if (n < 0)
		goto failed;
	close(fd);
	*text = buf;
	return AUC_OK;

failed:
	auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	free(buf);
	if (fd >= 0)
		close(fd);
	return AUC_EIO;
}

/* No control characters and no NUL below, so that all that follows can treat the text as text. */
static enum auc_code check_text(struct parser *p, const char *text, size_t len)
{
	unsigned line = 1;
	size_t i;

	if (len > FILE_MAX)
		return auc_err_set(p->err, AUC_EINVAL, "%s: longer than %d bytes", p->file,
				   FILE_MAX);
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < ' ' && !strchr("\t\r\n", c)) || c == '\0' || c == 0x7f)
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s:%u: control character 0x%02x, expected text",
					   p->file, line, c);
		line += c == '\n';
	}
	p->p = text;
	p->end = text + len;
	return AUC_OK;
}

static enum auc_code cut_words(struct parser *p)
{
	enum auc_code rc = AUC_OK;

	skip_blank(p);
	while (rc == AUC_OK && p->p < p->end) {
		rc = cut_word(p);
		if (rc == AUC_OK)
			skip_blank(p);
	}
	return rc;
}

/* Skips white space, comments, ends of lines and continuations. */
static void skip_blank(struct parser *p)
{
	const char *next;

	for (; p->p < p->end; p->p++) {
		switch (*p->p) {
		case ' ':
		case '\t':
		case '\r':
			break;
		case '\n':
			p->line++;
			p->line_begins = true;
			break;
		case '#':
			while (p->p + 1 < p->end && p->p[1] != '\n')
				p->p++;
			break;
		case '\\':
			next = p->p + 1;
			while (next < p->end && strchr(" \t\r", *next))
				next++;
			if (next < p->end && *next != '\n')
				return;
			p->line++;
			p->p = next < p->end ? next : p->end - 1;
			break;
		default:
			return;
		}
	}
}

static enum auc_code cut_word(struct parser *p)
{
	const char *key = p->p, *value, *close;
	size_t nkey = 0, nvalue;
	bool quoted;

	while (key + nkey < p->end && !strchr("= \t\r\n#\"", key[nkey]))
		nkey++;
	if (nkey == 0 || key + nkey == p->end || key[nkey] != '=')
		return auc_err_set(p->err, AUC_EINVAL, "%s:%u: %.*s: expected Key=value", p->file,
				   p->line, shown(nkey ? nkey : 1), key);
	value = key + nkey + 1;
	quoted = value < p->end && *value == '"';
	value += quoted;
	if (quoted) {
		close = memchr(value, '"', (size_t)(p->end - value));
		if (!close || memchr(value, '\n', (size_t)(close - value)))
			return auc_err_set(
				p->err, AUC_EINVAL,
				"%s:%u: %.*s=\": expected a closing '\"' on the same line", p->file,
				p->line, shown(nkey), key);
		nvalue = (size_t)(close - value);
		p->p = close + 1;
	} else {
		nvalue = value_length(p, value);
		p->p = value + nvalue;
	}
	if (p->p < p->end && !strchr(" \t\r\n#\\", *p->p))
		return auc_err_set(
			p->err, AUC_EINVAL,
			"%s:%u: %.*s=%.*s: expected '\"' around the whole value or nowhere",
			p->file, p->line, shown(nkey), key, shown(nvalue), value);
	return push_word(p, key, nkey, value, nvalue);
}

/* How much of a piece of N bytes an error repeats. */
static int shown(size_t n)
{
	return n < 60 ? (int)n : 60;
}

/* Length of an unquoted value: up to white space, a comment, a quote or a '\' that ends the line.
 */
static size_t value_length(const struct parser *p, const char *value)
{
	const char *c;

	for (c = value; c < p->end && !strchr(" \t\r\n#\"", *c); c++)
		if (*c == '\\' && (c + 1 == p->end || strchr(" \t\r\n", c[1])))
			break;
	return (size_t)(c - value);
}

static enum auc_code push_word(struct parser *p, const char *key, size_t nkey, const char *value,
			       size_t nvalue)
{
	struct word *words = p->words;
	char *copy;

	if (p->nwords == p->alloc) {
		p->alloc = p->alloc ? 2 * p->alloc : 64;
		words = realloc(p->words, p->alloc * sizeof(*words));
		if (words)
			p->words = words;
	}
	copy = words ? malloc(nkey + nvalue + 2) : NULL;
	if (!copy)
		return auc_err_set(p->err, AUC_ENOMEM, "%s: no memory", p->file);
	memcpy(copy, key, nkey);
	copy[nkey] = '\0';
	memcpy(copy + nkey + 1, value, nvalue);
	copy[nkey + 1 + nvalue] = '\0';
	p->words[p->nwords++] = (struct word){copy, copy + nkey + 1, p->line, p->line_begins};
	p->line_begins = false;
	return AUC_OK;
}

static enum auc_code read_sections(struct parser *p)
{
	bool seen[NKEYS] = {false};
	enum section section;
	enum auc_code rc = AUC_OK;
	size_t i, n;

	for (section = GLOBAL; rc == AUC_OK && section < NSECTIONS; section++) {
		for (i = 0; rc == AUC_OK && i < p->nwords; i += n) {
			for (n = 1; i + n < p->nwords && !p->words[i + n].first; n++)
				;
			if (section_of(&p->words[i]) == section)
				rc = read_line(p, section, &p->words[i], n);
		}
		if (rc != AUC_OK || section != GLOBAL)
			continue;
		for (i = 0; i < NKEYS; i++)
			seen[i] = p->global[i] != NULL;
		rc = fill_presets(p, GLOBAL, p->conf, seen, NULL);
	}
	return rc;
}

/* One logical line: N words from WORD on. */
static enum auc_code read_line(struct parser *p, enum section section, const struct word *word,
			       size_t n)
{
	bool seen[NKEYS] = {false};
	void *base = p->conf;
	enum auc_code rc = AUC_OK;
	size_t i;

	if (section != GLOBAL)
		rc = add_item(p, section, word, &base);
	for (i = 0; rc == AUC_OK && i < n; i++)
		rc = read_word(p, section, base, &word[i], seen);
	if (rc != AUC_OK || section == GLOBAL)
		return rc;
	rc = fill_presets(p, section, base, seen, word);
	if (rc == AUC_OK && section == MODEL)
		rc = check_models(p, word, n, base);
	return rc;
}

static enum auc_code read_word(struct parser *p, enum section section, void *base,
			       const struct word *word, bool *seen)
{
	const struct key *key = find_key(section, word->key);
	enum section other;
	struct auc_err detail = {.text = ""};
	char range[128];
	enum auc_code rc;

	for (other = GLOBAL; !key && other < NSECTIONS; other++) {
		if (!find_key(other, word->key))
			continue;
		if (other == GLOBAL || find_key(other, word->key) == head_of(other))
			return word_error(p, word, "on a line of its own");
		return word_error(p, word, "on a line that begins with %s=", head_of(other)->name);
	}
	if (!key)
		return word_error(p, word, "a key of auction.conf(5)");
	if (section == GLOBAL && p->global[key - keys])
		return word_error(p, word, "once, %s is in line %u already", key->name,
				  p->global[key - keys]->line);
	if (seen[key - keys])
		return word_error(p, word, "%s once in a line", key->name);
	seen[key - keys] = true;
	if (section == GLOBAL)
		p->global[key - keys] = word;
	rc = set_value(p, key, base, word->value, &detail);
	if (rc == AUC_OK)
		return AUC_OK;
	describe(key, range, sizeof(range));
	if (*detail.text)
		return word_error(p, word, "%s (%.200s)", range, detail.text);
	return word_error(p, word, "%s", range);
}

/* A new zeroed item for the line that WORD opens, whose name must be new; the name is set by
 * read_word(). */
static enum auc_code add_item(struct parser *p, enum section section, const struct word *word,
			      void **item)
{
	const struct list *list = &lists[section];
	char **items = (char **)((char *)p->conf + list->items);
	unsigned *n = (unsigned *)((char *)p->conf + list->count);
	char *grown;

	if (find_item(p->conf, section, word->value))
		return word_error(p, word, "a name that no other %s has", head_of(section)->name);
	if (*n == list->limit)
		return word_error(p, word, "at most %u lines %s=", list->limit,
				  head_of(section)->name);
	grown = realloc(*items, (*n + 1) * list->size);
	if (!grown)
		return auc_err_set(p->err, AUC_ENOMEM, "%s: no memory", p->file);
	*items = grown;
	*item = grown + *n * list->size;
	memset(*item, 0, list->size);
	if (section == MODEL)
		((struct auc_conf_model *)*item)->gradient_mb = -1;
	if (section == WORKER_TYPE || section == PS_TYPE)
		((struct auc_conf_type *)*item)->line = word->line;
	(*n)++;
	return AUC_OK;
}

/* Defaults for what a line (WORD opens it) or, for GLOBAL, the file did not say. */
static enum auc_code fill_presets(struct parser *p, enum section section, void *base,
				  const bool *seen, const struct word *word)
{
	enum auc_code rc = AUC_OK;
	size_t i;

	for (i = 0; rc == AUC_OK && i < NKEYS; i++) {
		if (keys[i].section != section || seen[i])
			continue;
		if (keys[i].required)
			return word_error(p, word, "%s= on this line", keys[i].name);
		if (keys[i].preset)
			rc = set_value(p, &keys[i], base, keys[i].preset, p->err);
	}
	return rc;
}

static enum section section_of(const struct word *word)
{
	enum section section;

	for (section = PARTITION; section < NSECTIONS; section++)
		if (same_word(head_of(section)->name, word->key))
			return section;
	return GLOBAL;
}

static const struct key *find_key(enum section section, const char *name)
{
	const struct key *key;

	for (key = keys; key < keys + NKEYS; key++)
		if (key->section == section && same_word(key->name, name))
			return key;
	return NULL;
}

/* The key that opens a line of SECTION: the first of its rows. */
static const struct key *head_of(enum section section)
{
	const struct key *key = keys;

	while (key->section != section)
		key++;
	return key;
}

static enum auc_code set_value(struct parser *p, const struct key *key, void *base,
			       const char *value, struct auc_err *err)
{
	void *to = (char *)base + key->offset;
	uint64_t count;
	enum auc_code rc;

	switch (key->type) {
	case TYPE_NAME:
	case TYPE_NEW_NAME:
		return set_name(key, base, value, err);
	case TYPE_POLICY:
		return set_policy(base, value, err);
	case TYPE_COUNT:
	case TYPE_COUNT64:
		rc = auc_parse_count(value, (uint64_t)key->min, (uint64_t)key->max, &count,
				     key->name, NULL);
		if (rc == AUC_OK && key->type == TYPE_COUNT)
			*(unsigned *)to = (unsigned)count;
		else if (rc == AUC_OK)
			*(uint64_t *)to = count;
		return rc;
	case TYPE_NUMBER:
		return auc_parse_number(value, key->min, key->max, to, key->name, NULL);
	case TYPE_SPAN:
		return set_span(p, key, base, value, err);
	case TYPE_CHOICE:
		return set_choice(key, base, value, err);
	case TYPE_ONE_OF:
		return set_one_of(key, base, value);
	case TYPE_TEXT:
	case TYPE_PATH:
		return set_text(key, base, value, err);
	case TYPE_AMOUNTS:
	case TYPE_TIMES:
		return set_list(p, key, base, value, err);
	}
	return AUC_EINVAL;
}

static enum auc_code set_name(const struct key *key, void *base, const char *value,
			      struct auc_err *err)
{
	(void)err;
	if (!auc_name_valid(value))
		return AUC_EINVAL;
	strcpy((char *)base + key->offset, value);
	return AUC_OK;
}

/* The policy itself says whether it can be made with these options. */
static enum auc_code set_policy(struct auc_conf *conf, const char *value, struct auc_err *err)
{
	size_t n = strcspn(value, ",");
	const char *options = value[n] ? value + n + 1 : "";
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
	char name[AUC_NAME_MAX];

	if (n >= sizeof(name) || strlen(options) >= sizeof(conf->policy_options))
		return AUC_EINVAL;
	memcpy(name, value, n);
	name[n] = '\0';
	policy = auc_policy_of_cluster(name);
	if (!policy)
		return auc_err_set(err, AUC_ENOENT, "there is no policy '%s'", name);
	if (policy->baseline)
		return auc_err_set(err, AUC_EINVAL, "'%s' is for auctionsim, nothing to sell by",
				   name);
	if (policy->sites)
		return auc_err_set(err, AUC_EINVAL,
				   "'%s' is for auctionsim: a bid cannot say where its chunks lie",
				   name);
	if (policy->create(options, &ctx, err) != AUC_OK)
		return AUC_EINVAL;
	policy->destroy(ctx);
	strcpy(conf->policy, name);
	strcpy(conf->policy_options, options);
	return AUC_OK;
}

static enum auc_code set_choice(const struct key *key, void *base, const char *value,
				struct auc_err *err)
{
	const char *second = strchr(key->choices, '|') + 1;
	char first[16];

	(void)err;
	snprintf(first, sizeof(first), "%.*s", (int)(second - key->choices - 1), key->choices);
	if (!same_word(value, first) && !same_word(value, second))
		return AUC_EINVAL;
	*(bool *)((char *)base + key->offset) = same_word(value, second);
	return AUC_OK;
}

static enum auc_code set_one_of(const struct key *key, void *base, const char *value)
{
	const char *p = key->choices;
	char word[16];
	size_t n;

	for (unsigned i = 0;; i++, p += n + 1) {
		n = strcspn(p, "|");
		snprintf(word, sizeof(word), "%.*s", (int)n, p);
		if (same_word(value, word)) {
			*(unsigned *)((char *)base + key->offset) = i;
			return AUC_OK;
		}
		if (!p[n])
			return AUC_EINVAL;
	}
}

static enum auc_code set_text(const struct key *key, void *base, const char *value,
			      struct auc_err *err)
{
	char **to = (char **)((char *)base + key->offset);

	(void)err;
	if (!*value || (key->type == TYPE_PATH && *value != '/') ||
	    (key->type == TYPE_PATH && strlen(value) >= 1024))
		return AUC_EINVAL;
	*to = strdup(value);
	return *to ? AUC_OK : AUC_ENOMEM;
}

static enum auc_code set_list(struct parser *p, const struct key *key, void *base,
			      const char *value, struct auc_err *err)
{
	const struct auc_list_rule rule = {
		.syntax = key->type == TYPE_TIMES ? "TYPE=TIME" : "TRES=NUMBER",
		.unit = key->type == TYPE_TIMES ? AUC_UNIT_SECONDS : AUC_UNIT_NONE,
		.min = key->min,
		.max = key->max,
		.slot_seconds = p->conf->slot_seconds,
		.limit = key->limit,
		.tres = key->type == TYPE_AMOUNTS,
	};

	return auc_parse_list(value, &rule, (struct auc_named *)((char *)base + key->offset),
			      (unsigned *)((char *)base + key->count), NULL, key->name, err);
}

/* Globals have no slots to count in: SlotSeconds is one of them. */
static enum auc_code set_span(struct parser *p, const struct key *key, void *base,
			      const char *value, struct auc_err *err)
{
	double slot = key->section == GLOBAL ? 0 : p->conf->slot_seconds;
	double seconds;
	enum auc_code rc;

	(void)err;
	rc = auc_parse_span(value, 1, slot, &seconds, key->name, NULL);
	if (rc == AUC_OK && !(seconds >= key->min && seconds <= key->max))
		rc = AUC_EINVAL;
	if (rc == AUC_OK)
		*(double *)((char *)base + key->offset) = seconds;
	return rc;
}

/* Somewhere workers are hosted, and somewhere PSs. */
static enum auc_code check_roles(struct parser *p)
{
	static const char *const words[] = {[AUC_PART_WORKER] = "worker", [AUC_PART_PS] = "ps"};
	unsigned alone = p->conf->partitions[0].roles, i;

	for (i = 1; i < p->conf->npartitions; i++)
		if (p->conf->partitions[i].roles != alone)
			return AUC_OK;
	if (alone == AUC_PART_BOTH)
		return AUC_OK;
	return auc_err_set(p->err, AUC_EINVAL,
			   "%s: Roles=%s on every line PartitionName=, expected one at least with "
			   "Roles=%s or both: nothing could host %s",
			   p->file, words[alone],
			   words[alone == AUC_PART_PS ? AUC_PART_WORKER : AUC_PART_PS],
			   alone == AUC_PART_PS ? "workers" : "PSs");
}

/* What no line alone can tell. */
static enum auc_code check_all(struct parser *p)
{
	const struct auc_conf *conf = p->conf;
	enum auc_code rc;

	if (!conf->npartitions || !conf->nworker_types || !conf->nps_types)
		return auc_err_set(p->err, AUC_EINVAL,
				   "%s: no line %s=, expected at least one PartitionName, "
				   "WorkerType and PSType",
				   p->file,
				   !conf->npartitions     ? "PartitionName"
				   : !conf->nworker_types ? "WorkerType"
							  : "PSType");
	if (conf->end_margin >= conf->slot_seconds)
		return word_error(
			p,
			global_word(p, global_word(p, "EndMargin") ? "EndMargin" : "SlotSeconds"),
			"EndMargin (%.15g s) less than SlotSeconds (%.15g s)", conf->end_margin,
			conf->slot_seconds);
	for (unsigned i = 0; i < conf->npartitions; i++)
		if (conf->partitions[i].one_server &&
		    (!sells_by_prices(conf) || auc_policy_of_cluster(conf->policy)->sites))
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s: PartitionName=%s: OneServer=yes: expected no with "
					   "policy %s, which places jobs on nodes",
					   p->file, conf->partitions[i].name, conf->policy);
	if (conf->late_start > 0 && auc_policy_of_cluster(conf->policy)->stepper)
		return word_error(p, global_word(p, "LateStart"),
				  "0 with policy %s, which changes no slot that has begun",
				  conf->policy);
	rc = check_roles(p);
	if (rc == AUC_OK)
		rc = check_tres(p);
	if (rc == AUC_OK)
		rc = check_prices(p);
	if (rc == AUC_OK)
		rc = check_defaults(p);
	return rc;
}

static enum auc_code check_tres(struct parser *p)
{
	const struct auc_conf *conf = p->conf;
	const struct auc_conf_type *type;
	struct auc_named all[AUC_TRES_MAX];
	unsigned i, k, n = 0;

	for (i = 0; i < conf->nworker_types + conf->nps_types; i++) {
		type = i < conf->nworker_types ? &conf->worker_types[i]
					       : &conf->ps_types[i - conf->nworker_types];
		for (k = 0; k < type->ntres; k++) {
			if (auc_find_named(all, n, type->tres[k].name))
				continue;
			if (n == AUC_TRES_MAX)
				return auc_err_set(
					p->err, AUC_EINVAL,
					"%s:%u: TRES=%s: expected at most %d different TRES in "
					"all types",
					p->file, type->line, type->tres[k].name, AUC_TRES_MAX);
			all[n++] = type->tres[k];
		}
	}
	return AUC_OK;
}

/* Prices of TRES, in any place: not what a stepper or a policy that posts its own goes by. */
static bool sells_by_prices(const struct auc_conf *conf)
{
	const struct auc_policy *policy = auc_policy_of_cluster(conf->policy);

	return !policy->stepper && !policy->posts;
}

static enum auc_code check_prices(struct parser *p)
{
	struct auc_conf *conf = p->conf;
	bool bounds = auc_policy_of_cluster(conf->policy)->prices == AUC_PRICE_BOUNDS;
	enum auc_code rc;

	if (!sells_by_prices(conf) && conf->prices != AUC_PRICES_NONE) {
		if (global_word(p, "Prices"))
			return word_error(p, global_word(p, "Prices"),
					  "none with policy %s, which does not sell by them",
					  conf->policy);
		conf->prices = AUC_PRICES_NONE;
	}
	if (conf->prices == AUC_PRICES_GIVEN && !(bounds ? conf->bounds.nupper : conf->neta))
		return word_error(p, global_word(p, "Prices"), "a line %s with the %s",
				  bounds ? "Upper=" : "Eta=", bounds ? "bounds" : "bases");
	rc = check_price_names(p, "Eta", conf->eta, conf->neta);
	if (rc == AUC_OK)
		rc = check_price_names(p, "Upper", conf->bounds.upper, conf->bounds.nupper);
	if (rc == AUC_OK)
		rc = check_price_names(p, "PSUpper", conf->ps_bounds.upper, conf->ps_bounds.nupper);
	if (rc == AUC_OK)
		rc = check_lower(p, "Lower", &conf->bounds);
	return rc == AUC_OK ? check_lower(p, "PSLower", &conf->ps_bounds) : rc;
}

static enum auc_code check_price_names(struct parser *p, const char *key,
				       const struct auc_named *list, unsigned n)
{
	const struct auc_conf *conf = p->conf;
	unsigned i;

	for (i = 0; i < n; i++)
		if (!type_uses(conf->worker_types, conf->nworker_types, list[i].name) &&
		    !type_uses(conf->ps_types, conf->nps_types, list[i].name))
			return word_error(p, global_word(p, key),
					  "TRES that a WorkerType or PSType has, '%s' is in none",
					  list[i].name);
	return AUC_OK;
}

static enum auc_code check_lower(struct parser *p, const char *key, const struct auc_conf_bounds *b)
{
	const struct auc_named *upper;
	unsigned i;

	for (i = 0; i < b->nlower; i++) {
		upper = auc_find_named(b->upper, b->nupper, b->lower[i].name);
		if (!upper || upper->value < b->lower[i].value)
			return word_error(p, global_word(p, key),
					  "for '%s' no more than %s has for it", b->lower[i].name,
					  b == &p->conf->bounds ? "Upper" : "PSUpper");
	}
	return AUC_OK;
}

/* The types MODEL names, on the N words of its line. */
static enum auc_code check_models(struct parser *p, const struct word *word, size_t n,
				  const struct auc_conf_model *model)
{
	const char *name = NULL;
	bool ps = false;
	unsigned i;
	size_t w;

	for (i = 0; !name && i < model->nworkers; i++)
		if (!auc_conf_worker_type(p->conf, model->worker_seconds[i].name))
			name = model->worker_seconds[i].name;
	for (i = 0; !name && i < model->nps; i++)
		if (!auc_conf_ps_type(p->conf, model->ps_seconds[i].name)) {
			name = model->ps_seconds[i].name;
			ps = true;
		}
	if (!name)
		return AUC_OK;
	for (w = 0; w + 1 < n && !same_word(word[w].key, ps ? "PSTime" : "WorkerTime"); w++)
		;
	return word_error(p, &word[w], "types that a line %s= defines, '%s' is in none",
			  ps ? "PSType" : "WorkerType", name);
}

static enum auc_code check_defaults(struct parser *p)
{
	struct auc_err detail;
	struct auc_bid bid;

	if (*p->conf->default_model && !auc_conf_model(p->conf, p->conf->default_model))
		return word_error(p, global_word(p, "DefaultModel"), "the name of a Model");
	if (p->conf->default_bid &&
	    auc_bid_parse(p->conf, p->conf->default_bid, &bid, &detail) != AUC_OK)
		return word_error(p, global_word(p, "DefaultBid"), "a bid (%.300s)", detail.text);
	return check_change(p);
}

static enum auc_code check_change(struct parser *p)
{
	struct auc_conf *conf = p->conf;
	double half = conf->slot_seconds / 2, notice = conf->slot_seconds / 10;

	if (conf->late_start >= conf->slot_seconds)
		return word_error(p, global_word(p, "LateStart"), "less than SlotSeconds (%.15g s)",
				  conf->slot_seconds);
	if (global_word(p, "ChangeNotice") && conf->change_notice > half)
		return word_error(p, global_word(p, "ChangeNotice"),
				  "at most half of SlotSeconds (%.15g s)", half);
	if (!global_word(p, "ChangeNotice")) {
		notice = notice < NOTICE_MIN   ? NOTICE_MIN
			 : notice > NOTICE_MAX ? NOTICE_MAX
					       : notice;
		conf->change_notice = notice < half ? notice : half;
	}
	if (auc_conf_change_signal(conf) < 0)
		return word_error(p, global_word(p, "ChangeSignal"),
				  "the name of a signal, such as USR1, or none");
	return AUC_OK;
}

static bool type_uses(const struct auc_conf_type *types, unsigned n, const char *tres)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (auc_find_named(types[i].tres, types[i].ntres, tres))
			return true;
	return false;
}

/* Where the file set a global key; NULL: nowhere. */
static const struct word *global_word(const struct parser *p, const char *name)
{
	return p->global[find_key(GLOBAL, name) - keys];
}

/* What a value of KEY looks like, for errors and the manual. */
static void describe(const struct key *key, char *buf, size_t size)
{
	size_t n;

	switch (key->type) {
	case TYPE_NAME:
	case TYPE_NEW_NAME:
		snprintf(buf, size, "a name of up to %d letters, digits and ._:/+-",
			 AUC_NAME_MAX - 1);
		break;
	case TYPE_POLICY:
		snprintf(buf, size, "a policy's name[,option=value...]");
		break;
	case TYPE_COUNT:
	case TYPE_COUNT64:
		snprintf(buf, size, "a whole number from %.15g to %.15g", key->min, key->max);
		break;
	case TYPE_NUMBER:
		snprintf(buf, size, "a number from %.15g to %.15g", key->min, key->max);
		break;
	case TYPE_SPAN:
		snprintf(buf, size, "a time from %.15g s to %.15g s", key->min, key->max);
		break;
	case TYPE_CHOICE:
		n = strcspn(key->choices, "|");
		snprintf(buf, size, "%.*s or %s", (int)n, key->choices, key->choices + n + 1);
		break;
	case TYPE_ONE_OF:
		snprintf(buf, size, "one of %s", key->choices);
		break;
	case TYPE_TEXT:
		snprintf(buf, size, "a bid");
		break;
	case TYPE_PATH:
		snprintf(buf, size, "an absolute path");
		break;
	case TYPE_AMOUNTS:
		snprintf(buf, size, "TRES=NUMBER,... with numbers from %.15g to %.15g", key->min,
			 key->max);
		break;
	case TYPE_TIMES:
		snprintf(buf, size, "TYPE=TIME,... with times from %.15g s to %.15g s", key->min,
			 key->max);
		break;
	}
}

/* "FILE:LINE: Key=value: expected ..." */
static enum auc_code word_error(struct parser *p, const struct word *word, const char *fmt, ...)
{
	char text[sizeof(p->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return auc_err_set(p->err, AUC_EINVAL, "%s:%u: %.40s=%.80s: expected %s", p->file,
			   word->line, word->key, word->value, text);
}

/* One section's keys and values: globals a line each, an item on one line. */
static void print_section(const struct auc_conf *conf, enum section section, const void *base,
			  FILE *out)
{
	const struct key *key;

	for (key = keys; key < keys + NKEYS; key++) {
		if (key->section != section || !print_value(conf, key, base, out))
			continue;
		fputc(section == GLOBAL ? '\n' : ' ', out);
	}
	if (section != GLOBAL)
		fputc('\n', out);
}

/* Prints KEY=value unless the value is the one that stands for "not given"; true if it did. */
static bool print_value(const struct auc_conf *conf, const struct key *key, const void *base,
			FILE *out)
{
	const char *from = (const char *)base + key->offset;
	char number[AUC_NUMBER_LEN];
	const char *text = from;
	size_t n;

	switch (key->type) {
	case TYPE_NAME:
	case TYPE_NEW_NAME:
		if (!*text)
			return false;
		fprintf(out, "%s=%s", key->name, text);
		return true;
	case TYPE_POLICY:
		fprintf(out, "%s=\"%s%s%s\"", key->name, conf->policy,
			*conf->policy_options ? "," : "", conf->policy_options);
		return true;
	case TYPE_COUNT:
		fprintf(out, "%s=%u", key->name, *(const unsigned *)from);
		return true;
	case TYPE_COUNT64:
		if (!*(const uint64_t *)from)
			return false;
		fprintf(out, "%s=%llu", key->name, (unsigned long long)*(const uint64_t *)from);
		return true;
	case TYPE_NUMBER:
	case TYPE_SPAN:
		if (*(const double *)from < 0)
			return false;
		fprintf(out, "%s=%s", key->name, auc_number_str(*(const double *)from, number));
		return true;
	case TYPE_CHOICE:
		n = strcspn(key->choices, "|");
		text = *(const bool *)from ? key->choices + n + 1 : key->choices;
		fprintf(out, "%s=%.*s", key->name, (int)strcspn(text, "|"), text);
		return true;
	case TYPE_ONE_OF:
		text = key->choices;
		for (n = *(const unsigned *)from; n; n--)
			text = strchr(text, '|') + 1;
		fprintf(out, "%s=%.*s", key->name, (int)strcspn(text, "|"), text);
		return true;
	case TYPE_TEXT:
	case TYPE_PATH:
		text = *(char *const *)from;
		if (!text)
			return false;
		fprintf(out, "%s=\"%s\"", key->name, text);
		return true;
	case TYPE_AMOUNTS:
	case TYPE_TIMES:
		n = *(const unsigned *)((const char *)base + key->count);
		if (!n)
			return false;
		fprintf(out, "%s=", key->name);
		auc_print_list(out, (const struct auc_named *)from, (unsigned)n,
			       key->type == TYPE_TIMES ? "s" : "");
		return true;
	}
	return false;
}

/* Every item begins with its name. */
static const void *find_item(const struct auc_conf *conf, enum section section, const char *name)
{
	const struct list *list = &lists[section];
	const char *items = *(char *const *)((const char *)conf + list->items);
	unsigned n = *(const unsigned *)((const char *)conf + list->count);
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(items + i * list->size, name))
			return items + i * list->size;
	return NULL;
}

/* Equal but for case, of ASCII letters in every locale. */
static bool same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a;
		int y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;

		if (x != y)
			return false;
	}
	return *a == *b;
}

static void parser_clear(struct parser *p)
{
	size_t i;

	for (i = 0; i < p->nwords; i++)
		free(p->words[i].key);
	free(p->words);
	auc_conf_free(p->conf);
}
