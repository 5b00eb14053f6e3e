/*
 * bid.c - see bid.h. One row per key says how it is called everywhere and which function reads its
 * value; the words of a text are first sorted by key and then read in the order of the rows, so
 * their order in the text does not matter.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bid.h"
#include "input/bid_ask.h"
#include "input/bid_gang.h"
#include "input/bid_limits.h"
#include "input/bid_stands.h"
#include "input/bid_time.h"
#include "input/conf.h"
#include "base/num.h"
#include "policy/policy.h"
#include "policy/registry.h"
#include "base/list.h"

#define SEPARATORS       " \t\r\n\f\v;"
#define GRADIENT_MB_MAX  1e9
#define DATA_MB_MAX      1e12
#define SECONDS_MIN      1e-9 /* a mini-batch takes some time */
#define SECONDS_MAX      1e9
#define NO_CONF_SLOT     300.0 /* slot length where no configuration says it */
#define KNOWN_NAMES_SIZE 200

enum key {
	KEY_BID,
	KEY_EPOCHS,
	KEY_CHUNKS,
	KEY_MINIBATCHES,
	KEY_GRADIENT,
	KEY_WORKER_TIME,
	KEY_PS_TIME,
	KEY_UPLOAD,
	KEY_DATA,
	KEY_MODEL,
	KEY_QUOTE,
	KEY_OVERRUN,
	KEY_MAX_PRICE,
	KEY_PLACES,
	KEY_ACCEPT,
	KEY_SPEEDUP,
	KEY_GPU_TIME,
	KEY_STANDS,
	KEY_TIME_MAX,
	NOPTIONS, /* from here on no options */
	KEY_GANG = NOPTIONS,
	KEY_WITHIN,
	KEY_WHOLE,
	KEY_BLOCK,
	KEY_FEATURES,
	KEY_ONLY,
	KEY_EXCEPT,
	KEY_BEGIN,
	KEY_END,
	KEY_SINCE,
	KEY_ARRAY,
	KEY_PLANNED,
	KEY_PROFILE,
	KEY_REQUEUE,
	KEY_NOTICE,
	KEY_QOS,
	KEY_ACCOUNTS,
	NKEYS
};

typedef enum auc_code (*read_fn)(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);

/* The values of a text by key; NULL where a key is not given. */
struct words {
	const char *value[NKEYS];
};

static enum auc_code read_utility(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_epochs(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_chunks(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_minibatches(const struct auc_conf *conf, const char *value,
				      struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_gradient(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_worker_time(const struct auc_conf *conf, const char *value,
				      struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_ps_time(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_upload(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_data(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
			       const char *what, struct auc_err *err);
static enum auc_code read_model(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
				const char *what, struct auc_err *err);
static enum auc_code read_max_price(const struct auc_conf *conf, const char *value,
				    struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_places(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_speedup(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_gpu_time(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err);
static enum auc_code read_gang(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
			       const char *what, struct auc_err *err);

const struct auc_bid_key auc_bid_keys[] = {
	[KEY_BID] = {"bid", "SLURM_AUCTION_BID", "UTILITY",
		     "bid for training time: what the result is worth, in credits; e.g. 300, "
		     "deadline:300,4h, sigmoid:300,2/h,4h"},
	[KEY_EPOCHS] = {"epochs", "SLURM_AUCTION_EPOCHS", "N", "passes over the whole data set"},
	[KEY_CHUNKS] = {"chunks", "SLURM_AUCTION_CHUNKS", "N",
			"chunks of the data set, and so workers at most"},
	[KEY_MINIBATCHES] = {"minibatches", "SLURM_AUCTION_MINIBATCHES", "N",
			     "mini-batches in one chunk"},
	[KEY_GRADIENT] = {"gradient-mb", "SLURM_AUCTION_GRADIENT_MB", "MB",
			  "size of the gradients, which is that of the parameters"},
	[KEY_WORKER_TIME] = {"worker-time", "SLURM_AUCTION_WORKER_TIME", "TYPE=TIME,...",
			     "worker types it may use and the time of one mini-batch on each; e.g. "
			     "v100=1.9s,t4=3.4s"},
	[KEY_PS_TIME] = {"ps-time", "SLURM_AUCTION_PS_TIME", "TYPE=TIME,...",
			 "parameter server types it may use and the time of one update on each"},
	[KEY_UPLOAD] = {"upload", "SLURM_AUCTION_UPLOAD", "SITE=TIME,...",
			"time until the data are at a node or site, in slots or as 2h"},
	[KEY_DATA] = {"data-mb", "SLURM_AUCTION_DATA_MB", "MB",
		      "size of the data, from which follows how long it takes to get them to a "
		      "site for which "
		      "--upload says nothing"},
	[KEY_MODEL] = {"model", "SLURM_AUCTION_MODEL", "NAME",
		       "take what is not given from this profile of auction.conf"},
	[KEY_QUOTE] = {"quote", "SLURM_AUCTION_QUOTE", NULL,
		       "only say what the bid would cost; submit nothing"},
	[KEY_OVERRUN] = {"overrun", "SLURM_AUCTION_OVERRUN", "kill|extend",
			 "at the end of what was bought: end the job, or buy slot by slot while "
			 "the result is worth more than it costs"},
	[KEY_MAX_PRICE] =
		{"max-price", "SLURM_AUCTION_MAX_PRICE", "CREDITS",
		 "in place of --bid: take the soonest time that costs at most this, or the price "
		 "that is posted; nobody is told what you would have paid"},
	[KEY_PLACES] = {"data", "SLURM_AUCTION_DATA", "NODE=CHUNKS,...",
			"where the policy goes by where data lie: how many of the chunks lie at "
			"each node; e.g. edge1=10,edge2=17"},
	[KEY_ACCEPT] = {"accept", "SLURM_AUCTION_ACCEPT", "OFFER",
			"where prices are posted: take this offer, which --quote has made for the "
			"same job, at its price"},
	[KEY_SPEEDUP] = {"speedup", "SLURM_AUCTION_SPEEDUP", "NODES:TIME,...",
			 "how long the job runs on how many nodes, of which it gets what suits it "
			 "best; e.g. 2:6h,4:3.3h,8:2h"},
	[KEY_GPU_TIME] = {"gpu-time", "SLURM_AUCTION_GPU_TIME", "TYPE=TIME,...",
			  "types of GPU that the job may run on and how long it runs on each; e.g. "
			  "h100=3h,a100=6h"},
	[KEY_STANDS] = {"stands", "SLURM_AUCTION_STANDS", "TIME",
			"for how long the bid stands if it is refused: its job is held, and it is "
			"decided again as prices and bookings change; e.g. 4h"},
	[KEY_TIME_MAX] = {"time-max", "SLURM_AUCTION_TIME_MAX", "TIME|FACTORx",
			  "how long the job takes at most, where --time or its work says how long "
			  "as a rule; e.g. 8h, 1.3x"},
	[KEY_GANG] = {"gang", NULL, "SHAPE|...", ""},
	[KEY_WITHIN] = {"within", NULL, "switch", ""},
	[KEY_WHOLE] = {"whole", NULL, "yes", ""},
	[KEY_BLOCK] = {"block", NULL, "yes,UID,...,@ACCOUNT,...", ""},
	[KEY_FEATURES] = {"features", NULL, "NAME&NAME", ""},
	[KEY_ONLY] = {"only", NULL, "NODE,...", ""},
	[KEY_EXCEPT] = {"except", NULL, "NODE,...", ""},
	[KEY_BEGIN] = {"begin", NULL, "TIME", ""},
	[KEY_END] = {"end", NULL, "TIME", ""},
	[KEY_SINCE] = {"since", NULL, "TIME", ""},
	[KEY_ARRAY] = {"array", NULL, "JOB", ""},
	[KEY_PLANNED] = {"planned", NULL, "FACTOR", ""},
	[KEY_PROFILE] = {"profile", NULL, "NAME", ""},
	[KEY_REQUEUE] = {"requeue", NULL, "yes", ""},
	[KEY_NOTICE] = {"notice", NULL, "yes", ""},
	[KEY_QOS] = {"qos", NULL, "NAME", ""},
	[KEY_ACCOUNTS] = {"accounts", NULL, "NAME,...", ""},
};
const unsigned auc_bid_nkeys = NOPTIONS;

bool auc_bid_key_is_secret(unsigned key)
{
	return key == KEY_BID || key == KEY_MAX_PRICE;
}

/* Those of the words of gangs alone are not named. */
static const read_fn readers[NKEYS] = {
	[KEY_BID] = read_utility,
	[KEY_EPOCHS] = read_epochs,
	[KEY_CHUNKS] = read_chunks,
	[KEY_MINIBATCHES] = read_minibatches,
	[KEY_GRADIENT] = read_gradient,
	[KEY_WORKER_TIME] = read_worker_time,
	[KEY_PS_TIME] = read_ps_time,
	[KEY_UPLOAD] = read_upload,
	[KEY_DATA] = read_data,
	[KEY_MODEL] = read_model,
	[KEY_QUOTE] = auc_bid_quote_word,
	[KEY_OVERRUN] = auc_bid_overrun_word,
	[KEY_MAX_PRICE] = read_max_price,
	[KEY_PLACES] = read_places,
	[KEY_ACCEPT] = auc_bid_accept_word,
	[KEY_SPEEDUP] = read_speedup,
	[KEY_GPU_TIME] = read_gpu_time,
	[KEY_STANDS] = auc_bid_stands_word,
	[KEY_SINCE] = auc_bid_since_word,
	[KEY_ARRAY] = auc_bid_array_word,
	[KEY_TIME_MAX] = auc_bid_time_max_word,
	[KEY_PLANNED] = auc_bid_planned_word,
	[KEY_PROFILE] = auc_bid_profile_word,
	[KEY_REQUEUE] = auc_bid_requeue_word,
	[KEY_NOTICE] = auc_bid_notice_word,
	[KEY_QOS] = auc_bid_qos_word,
	[KEY_ACCOUNTS] = auc_bid_accounts_word,
};

static int find_key(const char *name);
static enum auc_code read_word(const struct auc_conf *conf, enum key key, const char *value,
			       struct auc_bid *bid, struct auc_err *err);
static enum auc_code sort_words(char *text, struct words *words, struct auc_err *err);
static enum auc_code sort_word(char *word, bool first, struct words *words, struct auc_err *err);
static enum auc_code make_bid(const struct auc_conf *conf, const struct words *words,
			      struct auc_bid *bid, struct auc_err *err);
static enum auc_code check_value(const struct auc_conf *conf, const struct words *words,
				 struct auc_bid *bid, struct auc_err *err);
static bool steps(const struct auc_conf *conf);
static bool posts(const struct auc_conf *conf);
static enum auc_code check_gang(const struct auc_conf *conf, const struct words *words,
				struct auc_bid *bid, struct auc_err *err);
static enum auc_code check_data(const struct auc_conf *conf, const struct auc_bid *bid,
				struct auc_err *err);
static uint64_t sum_data(const struct auc_bid *bid);
static void fill_from_model(const struct auc_conf_model *model, const struct words *words,
			    struct auc_bid *bid);
static void fill_plain(const struct auc_conf *conf, struct auc_bid *bid);
static enum auc_code read_count(const char *value, uint64_t *count, const char *what,
				struct auc_err *err);
static enum auc_code read_times(const struct auc_conf *conf, const char *value, bool ps,
				struct auc_named *list, unsigned *n, const char *what,
				struct auc_err *err);
static double slot_seconds(const struct auc_conf *conf);
static void known_types(const struct auc_conf_type *types, unsigned n, char *buf);
static void known_models(const struct auc_conf *conf, char *buf);
static void known_add(char *buf, const char *name);

enum auc_code auc_bid_check_word(const struct auc_conf *conf, const char *key, const char *value,
				 struct auc_err *err)
{
	struct auc_bid scratch = {.upload_default = -1, .max_price = -1};
	int k = find_key(key);

	if (k < 0)
		return auc_err_set(err, AUC_EINVAL, "'%.80s' is not a key of a bid", key);
	return read_word(conf, (enum key)k, value, &scratch, err);
}

const char *auc_bid_needed(const struct auc_conf *conf)
{
	if (steps(conf))
		return "a job says how much it trains, as in sbatch --epochs=N --chunks=N ...";
	if (posts(conf))
		return "a job needs a limit of its price, as in sbatch --max-price=PRICE ...";
	return "a job needs a bid, as in sbatch --bid=VALUE ...";
}

enum auc_code auc_bid_join(const char *text, const char *const *values, char **joined,
			   struct auc_err *err)
{
	struct words words = {{NULL}};
	char *copy = strdup(text ? text : "");
	enum auc_code rc;
	FILE *out;
	size_t size;
	int key;

	*joined = NULL;
	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "bid: no memory");
	rc = sort_words(copy, &words, err);
	out = rc == AUC_OK ? open_memstream(joined, &size) : NULL;
	for (key = 0; out && key < NKEYS; key++) {
		const char *value = key < NOPTIONS && values[key] ? values[key] : words.value[key];

		if (value)
			fprintf(out, "%s%s=%s", ftell(out) ? " " : "", auc_bid_keys[key].key,
				value);
	}
	if (rc == AUC_OK && (!out || fclose(out) != 0)) {
		free(*joined);
		*joined = NULL;
		rc = auc_err_set(err, AUC_ENOMEM, "bid: no memory");
	}
	free(copy);
	return rc;
}

enum auc_code auc_bid_parse(const struct auc_conf *conf, const char *text, struct auc_bid *bid,
			    struct auc_err *err)
{
	struct auc_bid made = {.upload_default = -1, .max_price = -1};
	struct words words = {{NULL}};
	enum auc_code rc;
	char *copy;

	if (strnlen(text, AUC_BID_TEXT_MAX) >= AUC_BID_TEXT_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "bid: '%.40s...' is too long, expected less than %d bytes", text,
				   AUC_BID_TEXT_MAX);
	copy = strdup(text);
	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "bid: no memory");
	rc = sort_words(copy, &words, err);
	if (rc == AUC_OK)
		rc = make_bid(conf, &words, &made, err);
	if (rc == AUC_OK)
		*bid = made;
	free(copy);
	return rc;
}

char *auc_bid_print(const struct auc_bid *bid)
{
	char number[AUC_NUMBER_LEN], *text = NULL;
	char *utility = auc_utility_print(&bid->utility);
	size_t size;
	FILE *out = utility ? open_memstream(&text, &size) : NULL;
	bool bad;

	if (!out) {
		free(utility);
		return NULL;
	}
	fprintf(out, "bid=%s", utility);
	free(utility);
	if (bid->gang.nshapes || !bid->epochs)
		auc_bid_gang_print(out, &bid->gang);
	else
		fprintf(out, " epochs=%llu chunks=%llu minibatches=%llu gradient-mb=%s",
			(unsigned long long)bid->epochs, (unsigned long long)bid->chunks,
			(unsigned long long)bid->minibatches,
			auc_number_str(bid->gradient_mb, number));
	if (bid->nworkers) {
		fprintf(out, " worker-time=");
		auc_list_print(out, bid->worker_seconds, bid->nworkers, "s");
	}
	if (bid->nps) {
		fprintf(out, " ps-time=");
		auc_list_print(out, bid->ps_seconds, bid->nps, "s");
	}
	if (bid->nupload || bid->upload_default >= 0)
		fprintf(out, " upload=");
	auc_list_print(out, bid->upload, bid->nupload, "");
	if (bid->upload_default >= 0)
		fprintf(out, "%s%s", bid->nupload ? "," : "",
			auc_number_str(bid->upload_default, number));
	if (bid->data_mb > 0)
		fprintf(out, " data-mb=%s", auc_number_str(bid->data_mb, number));
	if (bid->ndata) {
		fprintf(out, " data=");
		auc_list_print(out, bid->data, bid->ndata, "");
	}
	auc_bid_time_print(out, bid);
	auc_bid_limits_print(out, bid);
	auc_bid_stands_print(out, bid);
	bad = ferror(out);
	if (fclose(out) != 0 || bad) {
		free(text);
		return NULL;
	}
	return text;
}

static int find_key(const char *name)
{
	int i;

	for (i = 0; i < NKEYS; i++)
		if (!strcmp(name, auc_bid_keys[i].key))
			return i;
	return -1;
}

static enum auc_code read_word(const struct auc_conf *conf, enum key key, const char *value,
			       struct auc_bid *bid, struct auc_err *err)
{
	char what[32];

	snprintf(what, sizeof(what), "--%s", auc_bid_keys[key].key);
	if (value[strcspn(value, SEPARATORS)])
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s' has white space or ';', expected none", what,
				   value);
	return (readers[key] ? readers[key] : read_gang)(conf, value, bid, what, err);
}

/* Cuts TEXT into words and files their values by key. */
static enum auc_code sort_words(char *text, struct words *words, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	bool first = true;
	char *word;

	while (rc == AUC_OK && (word = strsep(&text, SEPARATORS))) {
		if (!*word)
			continue;
		rc = sort_word(word, first, words, err);
		first = false;
	}
	return rc;
}

static enum auc_code sort_word(char *word, bool first, struct words *words, struct auc_err *err)
{
	size_t name = strcspn(word, "=:");
	const char *value = "yes"; /* of a flag */
	int key;

	if (word[name] == '=') {
		word[name] = '\0';
		value = word + name + 1;
		key = find_key(word);
	} else {
		key = find_key(word);
		if (key >= 0 && auc_bid_keys[key].arg)
			return auc_err_set(err, AUC_EINVAL, "--%s: no value, expected %s=%s", word,
					   word, auc_bid_keys[key].arg);
		if (key < 0 && first) {
			key = KEY_BID;
			value = word;
		}
	}
	if (key < 0)
		return auc_err_set(
			err, AUC_EINVAL,
			"bid: '%.80s' is not a key, expected bid, epochs, chunks, minibatches, "
			"gradient-mb, worker-time, ps-time, upload, data-mb, model, quote, "
			"overrun, max-price, data, accept, speedup, gpu-time, stands or "
			"time-max",
			word);
	if (words->value[key])
		return auc_err_set(err, AUC_EINVAL,
				   "--%s: '%.80s' comes after '%.80s', expected once",
				   auc_bid_keys[key].key, value, words->value[key]);
	words->value[key] = value;
	return AUC_OK;
}

static enum auc_code make_bid(const struct auc_conf *conf, const struct words *words,
			      struct auc_bid *bid, struct auc_err *err)
{
	const struct auc_conf_model *model;
	char known[KNOWN_NAMES_SIZE] = "";
	enum auc_code rc;
	int key;

	for (key = 0; key < NKEYS; key++) {
		if (!words->value[key])
			continue;
		rc = read_word(conf, (enum key)key, words->value[key], bid, err);
		if (rc != AUC_OK)
			return rc;
		bid->kept |= key >= NOPTIONS && key != KEY_BLOCK;
	}
	if (bid->ask)
		return AUC_OK;
	if (words->value[KEY_BID] && strcmp(words->value[KEY_BID], "0") != 0 && posts(conf))
		return auc_err_set(
			err, AUC_EINVAL,
			"--bid: '%.80s', expected --max-price instead: policy %s posts prices",
			words->value[KEY_BID], conf->policy);
	rc = check_value(conf, words, bid, err);
	if (rc != AUC_OK)
		return rc;
	rc = auc_bid_stands_check(bid, steps(conf) ? conf->policy : NULL, err);
	if (rc == AUC_OK)
		rc = auc_bid_time_check(bid, conf ? conf->policy : NULL, err);
	if (rc != AUC_OK)
		return rc;
	rc = check_gang(conf, words, bid, err);
	if (rc != AUC_OK || bid->gang.nshapes)
		return rc;
	model = conf ? auc_conf_model(conf, *bid->model ? bid->model : conf->default_model) : NULL;
	if (bid->gang.open && !model)
		return auc_bid_accept_check(bid, conf && !posts(conf) ? conf->policy : NULL, err);
	if (model)
		fill_from_model(model, words, bid);
	fill_plain(conf, bid);
	rc = auc_bid_accept_check(bid, conf && !posts(conf) ? conf->policy : NULL, err);
	if (rc == AUC_OK)
		rc = check_data(conf, bid, err);
	if (rc != AUC_OK || bid->nworkers || !conf)
		return rc;
	known_types(conf->worker_types, conf->nworker_types, known);
	return auc_err_set(
		err, AUC_EINVAL,
		"--worker-time: not given, expected the time of one mini-batch on at least one of "
		"%s, or a --model that has it",
		known);
}

/* A value, or a limit of the price, which is one, too, where prices are not posted. */
static enum auc_code check_value(const struct auc_conf *conf, const struct words *words,
				 struct auc_bid *bid, struct auc_err *err)
{
	if (bid->max_price >= 0 && steps(conf))
		return auc_err_set(err, AUC_EINVAL,
				   "--max-price: given, expected none: policy %s sells nothing",
				   conf->policy);
	if (bid->max_price < 0 && !words->value[KEY_BID] && !steps(conf) && !posts(conf))
		return auc_err_set(
			err, AUC_EINVAL,
			"--bid: not given, expected what the job is worth, such as 300 or "
			"deadline:300,4h");
	if (bid->max_price < 0 || !conf || posts(conf))
		return AUC_OK;
	if (words->value[KEY_BID])
		return auc_err_set(err, AUC_EINVAL,
				   "--max-price: given with --bid, expected one of them");
	bid->capped = true;
	memset(&bid->utility, 0, sizeof(bid->utility));
	bid->utility.form = AUC_FORM_CONSTANT;
	bid->utility.scale = bid->max_price + AUC_CAP_SLACK;
	return AUC_OK;
}

/* Nothing is sold then, and a job need not say what it is worth. */
static bool steps(const struct auc_conf *conf)
{
	const struct auc_policy *policy = conf ? auc_policy_find(conf->policy) : NULL;

	return policy && policy->stepper;
}

/* Prices are offered then, to take or to leave. */
static bool posts(const struct auc_conf *conf)
{
	const struct auc_policy *policy = conf ? auc_policy_find(conf->policy) : NULL;

	return policy && policy->posts;
}

/* Sets bid->gang.open. A gang has no work, and none of what it has goes with work. */
static enum auc_code check_gang(const struct auc_conf *conf, const struct words *words,
				struct auc_bid *bid, struct auc_err *err)
{
	static const enum key work[] = {KEY_EPOCHS,      KEY_CHUNKS,  KEY_MINIBATCHES, KEY_GRADIENT,
					KEY_WORKER_TIME, KEY_PS_TIME, KEY_MODEL,       KEY_PLACES};
	static const enum key shapes[] = {KEY_SPEEDUP, KEY_GPU_TIME, KEY_GANG, KEY_WITHIN,
					  KEY_WHOLE,   KEY_FEATURES, KEY_ONLY, KEY_EXCEPT,
					  KEY_BEGIN,   KEY_END,      KEY_BLOCK};
	const struct auc_policy *policy = conf ? auc_policy_find(conf->policy) : NULL;
	const char *worker = NULL, *shape = NULL;

	for (unsigned i = 0; i < sizeof(work) / sizeof(*work); i++)
		if (!worker && words->value[work[i]])
			worker = auc_bid_keys[work[i]].key;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!shape && words->value[shapes[i]])
			shape = auc_bid_keys[shapes[i]].key;
	if (worker && shape)
		return auc_err_set(err, AUC_EINVAL,
				   "--%s: given with --%s, expected one of them: the first is of a "
				   "job of workers and PSs, the other of one that --nodes, "
				   "--gpus-per-node, --time describe",
				   worker, shape);
	if (shape && policy && !policy->gangs)
		return auc_err_set(err, AUC_EINVAL,
				   "--%s: given, expected none: policy %s sells to jobs of workers "
				   "and PSs only",
				   shape, conf->policy);
	bid->gang.open = !worker && (!policy || policy->gangs);
	return AUC_OK;
}

/* Every chunk lies somewhere, where the policy asks where, and only there a bid says it. */
static enum auc_code check_data(const struct auc_conf *conf, const struct auc_bid *bid,
				struct auc_err *err)
{
	const struct auc_policy *policy = conf ? auc_policy_find(conf->policy) : NULL;
	uint64_t sum = sum_data(bid);

	if (bid->ndata && sum != bid->chunks)
		return auc_err_set(
			err, AUC_EINVAL,
			"--data: %llu chunk%s in all, expected %llu, as many as --chunks",
			(unsigned long long)sum, auc_plural((double)sum),
			(unsigned long long)bid->chunks);
	if (!policy || (!policy->sites && !bid->ndata))
		return AUC_OK;
	if (!policy->sites)
		return auc_err_set(err, AUC_EINVAL,
				   "--data: given, expected none: policy %s does not go by where "
				   "chunks lie",
				   conf->policy);
	if (!bid->ndata)
		return auc_err_set(err, AUC_EINVAL,
				   "--data: not given, expected how many chunks lie at each node, "
				   "such as edge1=10,edge2=17: policy %s goes by that",
				   conf->policy);
	if (!(bid->data_mb > 0))
		return auc_err_set(
			err, AUC_EINVAL,
			"--data-mb: not given, expected the size of all chunks together, "
			"more than 0: policy %s sells what it takes to move them",
			conf->policy);
	if (bid->extend)
		return auc_err_set(err, AUC_EINVAL,
				   "--overrun: 'extend', expected kill: with policy %s every chunk "
				   "has its slot",
				   conf->policy);
	return AUC_OK;
}

static uint64_t sum_data(const struct auc_bid *bid)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < bid->ndata; i++)
		sum += (uint64_t)bid->data[i].value;
	return sum;
}

/* Takes what no word gives from MODEL. */
static void fill_from_model(const struct auc_conf_model *model, const struct words *words,
			    struct auc_bid *bid)
{
	int key;

	for (key = KEY_EPOCHS; key <= KEY_PS_TIME; key++)
		if (!words->value[key])
			strcpy(bid->model, model->name);
	if (!words->value[KEY_EPOCHS])
		bid->epochs = model->epochs;
	if (!words->value[KEY_CHUNKS])
		bid->chunks = model->chunks;
	if (!words->value[KEY_MINIBATCHES])
		bid->minibatches = model->minibatches;
	if (!words->value[KEY_GRADIENT] && model->gradient_mb >= 0)
		bid->gradient_mb = model->gradient_mb;
	if (!words->value[KEY_WORKER_TIME]) {
		bid->nworkers = model->nworkers;
		memcpy(bid->worker_seconds, model->worker_seconds, sizeof(bid->worker_seconds));
	}
	if (!words->value[KEY_PS_TIME]) {
		bid->nps = model->nps;
		memcpy(bid->ps_seconds, model->ps_seconds, sizeof(bid->ps_seconds));
	}
}

static void fill_plain(const struct auc_conf *conf, struct auc_bid *bid)
{
	unsigned i;

	bid->epochs = bid->epochs ? bid->epochs : 1;
	if (!bid->chunks)
		bid->chunks = bid->ndata ? sum_data(bid) : 1;
	bid->minibatches = bid->minibatches ? bid->minibatches : 1;
	if (bid->nps || !conf)
		return;
	for (i = 0; i < conf->nps_types; i++)
		strcpy(bid->ps_seconds[bid->nps++].name, conf->ps_types[i].name);
}

static enum auc_code read_utility(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err)
{
	double horizon = conf ? conf->slots : AUC_SLOTS_MAX;

	return auc_utility_parse(value, slot_seconds(conf), horizon, &bid->utility, what, err);
}

static enum auc_code read_epochs(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return read_count(value, &bid->epochs, what, err);
}

static enum auc_code read_chunks(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return read_count(value, &bid->chunks, what, err);
}

static enum auc_code read_minibatches(const struct auc_conf *conf, const char *value,
				      struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return read_count(value, &bid->minibatches, what, err);
}

static enum auc_code read_gradient(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return auc_parse_number(value, 0, GRADIENT_MB_MAX, &bid->gradient_mb, what, err);
}

static enum auc_code read_worker_time(const struct auc_conf *conf, const char *value,
				      struct auc_bid *bid, const char *what, struct auc_err *err)
{
	return read_times(conf, value, false, bid->worker_seconds, &bid->nworkers, what, err);
}

static enum auc_code read_ps_time(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err)
{
	return read_times(conf, value, true, bid->ps_seconds, &bid->nps, what, err);
}

static enum auc_code read_upload(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err)
{
	const struct auc_list_rule rule = {
		.syntax = "SITE=TIME",
		.unit = AUC_UNIT_SLOTS,
		.slot_seconds = slot_seconds(conf),
		.limit = AUC_BID_UPLOAD_MAX,
	};

	return auc_list_parse(value, &rule, bid->upload, &bid->nupload, &bid->upload_default, what,
			      err);
}

static enum auc_code read_max_price(const struct auc_conf *conf, const char *value,
				    struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return auc_parse_number(value, 0, AUC_VALUE_MAX, &bid->max_price, what, err);
}

static enum auc_code read_data(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
			       const char *what, struct auc_err *err)
{
	(void)conf;
	return auc_parse_number(value, 0, DATA_MB_MAX, &bid->data_mb, what, err);
}

/* Whole numbers of chunks: a list that reads back as it was printed, whatever its order. */
static enum auc_code read_places(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err)
{
	const struct auc_list_rule rule = {
		.syntax = "NODE=CHUNKS, such as edge1=10",
		.min = 1,
		.max = AUC_WORK_MAX,
		.limit = AUC_BID_DATA_MAX,
	};
	enum auc_code rc = auc_list_parse(value, &rule, bid->data, &bid->ndata, NULL, what, err);

	(void)conf;
	for (unsigned i = 0; rc == AUC_OK && i < bid->ndata; i++)
		if (bid->data[i].value != (double)(uint64_t)bid->data[i].value)
			rc = auc_err_set(err, AUC_EINVAL,
					 "%s: %s: %.15g is no whole number of chunks", what,
					 bid->data[i].name, bid->data[i].value);
	return rc;
}

static enum auc_code read_model(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
				const char *what, struct auc_err *err)
{
	char known[KNOWN_NAMES_SIZE] = "";

	if (!auc_name_valid(value))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s' is not a name, expected letters, digits and ._:/+-",
				   what, value);
	if (conf && !auc_conf_model(conf, value)) {
		known_models(conf, known);
		return *known ? auc_err_set(err, AUC_ENOENT,
					    "%s: '%.80s' is not a model of this cluster, expected "
					    "one of %s",
					    what, value, known)
			      : auc_err_set(err, AUC_ENOENT,
					    "%s: '%.80s': this cluster has no models (auction.conf "
					    "has no line Model=); without it the job is bought as "
					    "its options say, such as --gpus and --time",
					    what, value);
	}
	strcpy(bid->model, value);
	return AUC_OK;
}

static enum auc_code read_speedup(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err)
{
	return auc_bid_gang_speedup(value, slot_seconds(conf), &bid->gang, what, err);
}

static enum auc_code read_gpu_time(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err)
{
	const struct auc_list_rule rule = {
		.syntax = "TYPE=TIME, such as h100=3h",
		.unit = AUC_UNIT_SECONDS,
		.min = 1,
		.max = SECONDS_MAX,
		.slot_seconds = slot_seconds(conf),
		.limit = AUC_BID_TYPES_MAX,
	};

	return auc_list_parse(value, &rule, bid->gang.gpu_time, &bid->gang.ngpu_time, NULL, what,
			      err);
}

static enum auc_code read_gang(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
			       const char *what, struct auc_err *err)
{
	(void)conf;
	return auc_bid_gang_word(what + strlen("--"), value, &bid->gang, err);
}

static enum auc_code read_count(const char *value, uint64_t *count, const char *what,
				struct auc_err *err)
{
	return auc_parse_count(value, 1, AUC_WORK_MAX, count, what, err);
}

static enum auc_code read_times(const struct auc_conf *conf, const char *value, bool ps,
				struct auc_named *list, unsigned *n, const char *what,
				struct auc_err *err)
{
	const struct auc_list_rule rule = {
		.syntax = "TYPE=TIME, such as v100=1.9s",
		.unit = AUC_UNIT_SECONDS,
		.min = ps ? 0 : SECONDS_MIN,
		.max = SECONDS_MAX,
		.slot_seconds = slot_seconds(conf),
		.limit = AUC_BID_TYPES_MAX,
	};
	char known[KNOWN_NAMES_SIZE] = "";
	enum auc_code rc;
	unsigned i;

	rc = auc_list_parse(value, &rule, list, n, NULL, what, err);
	for (i = 0; rc == AUC_OK && conf && i < *n; i++) {
		if (ps ? auc_conf_ps_type(conf, list[i].name)
		       : auc_conf_worker_type(conf, list[i].name))
			continue;
		known_types(ps ? conf->ps_types : conf->worker_types,
			    ps ? conf->nps_types : conf->nworker_types, known);
		rc = auc_err_set(err, AUC_ENOENT,
				 "%s: '%s' is not a %s type of this cluster, expected %s", what,
				 list[i].name, ps ? "PS" : "worker", known);
	}
	return rc;
}

static double slot_seconds(const struct auc_conf *conf)
{
	return conf ? conf->slot_seconds : NO_CONF_SLOT;
}

/* The names there are, "v100, t4", into BUF[KNOWN_NAMES_SIZE], as many as fit. */
static void known_types(const struct auc_conf_type *types, unsigned n, char *buf)
{
	for (unsigned i = 0; i < n; i++)
		known_add(buf, types[i].name);
}

static void known_models(const struct auc_conf *conf, char *buf)
{
	unsigned i;

	for (i = 0; i < conf->nmodels; i++)
		known_add(buf, conf->models[i].name);
}

static void known_add(char *buf, const char *name)
{
	size_t used = strlen(buf);

	snprintf(buf + used, KNOWN_NAMES_SIZE - used, "%s%s", used ? ", " : "", name);
}
