/*
 * import-private.h - what the files of the import share. A reader (import_sacct.c, import_json.c,
 * import_trace.c) turns each record of its format into a struct import_record; import.c keeps those
 * that are jobs of GPUs; import_write.c makes the scenario of them.
 */
#ifndef SIM_IMPORT_PRIVATE_H
#define SIM_IMPORT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "input/bid.h"
#include "auctionsim/gen/gen-private.h"
#include "auctionsim/import/import.h"

#define IMPORT_KINDS_MAX   64  /* different GPU types in one import: bits of a mask */
#define IMPORT_KIND_BYTES  256 /* of a GPU type's name, with the NUL; Slurm has no more */
#define IMPORT_COLUMNS_MAX 24
#define IMPORT_FIELDS_MAX  256
#define IMPORT_GPUS_MAX    1e6              /* of one job or node */
#define IMPORT_TIME_MAX    1e11             /* seconds: on any clock */
#define IMPORT_RUN_MAX     (3650 * 86400.0) /* seconds of one job of Slurm */

/* -- text: a file as bytes and as lines -- */

struct import_text {
	const char *name; /* for errors */
	FILE *in;
	unsigned long line, column; /* of the next byte, from 1 */
	unsigned long at;           /* number of the line at hand */
	char *buffer;               /* the line at hand */
	size_t alloc;
	bool again;  /* the line at hand is also the next one */
	char *ahead; /* the line after it, if import_ahead() has read it */
	size_t ahead_alloc;
	unsigned long ahead_at;
	bool have_ahead;
};

/* Opens PATH ("-": standard input). AUC_EIO. */
enum auc_code import_open(struct import_text *t, const char *path, struct auc_err *err);
/* Takes what is open already; NAME stands for the file. */
void import_open_stream(struct import_text *t, FILE *in, const char *name);
void import_close(struct import_text *t);
/* The next byte, or EOF; a read error is one, too (see import_ended()). */
int import_get(struct import_text *t);
/* The next byte that is no white space and no byte order mark, without taking it. */
int import_peek(struct import_text *t);
/* AUC_EIO if what came as the end of the file was an error. */
enum auc_code import_ended(struct import_text *t, struct auc_err *err);
/* The next line that is not empty, without its end and without a byte order mark, in the text's own
 * memory; NULL: none is left. A NUL in it becomes a byte 1. AUC_EINVAL: UTF-16, or too long. */
enum auc_code import_line(struct import_text *t, char **line, struct auc_err *err);
/* The same for the line after the one at hand, which stays the next one. */
enum auc_code import_ahead(struct import_text *t, char **line, struct auc_err *err);
/* Puts what import_ahead() has read after the line at hand, with a blank between. */
enum auc_code import_join(struct import_text *t, char **line, struct auc_err *err);
/* AUC_EINVAL "FILE: line N, column M: " and the sentence; FOUND (NULL: nothing) is repeated with
 * care. */
enum auc_code import_expected(const struct import_text *t, unsigned long line, unsigned long column,
			      const char *found, struct auc_err *err, const char *what, ...)
	__attribute__((format(printf, 6, 7)));

/* -- tables: lines of fields under a header -- */

struct import_column {
	const char *name;
	bool required;
};

struct import_table {
	struct import_text *text;
	char separator;
	const struct import_column *columns; /* the first is that of the id */
	unsigned ncolumns;
	/* Columns whose text may hold separators and ends of lines; ends with NULL. NULL: none. */
	const char *const *loose;
	const char *hint;                 /* what to do if a column is missing, or "" */
	unsigned at[IMPORT_COLUMNS_MAX];  /* field + 1; 0: the header has no such column */
	unsigned loose_first, loose_last; /* field + 1 of the outermost of them; 0: none */
	unsigned nfields;                 /* of the header */
	char *fields[IMPORT_FIELDS_MAX];  /* of the line at hand */
	unsigned long continued;          /* lines that were part of a text, passed over */
};

/*
 * Reads the header, with text, separator, columns, loose and hint set. Columns that are not in
 * columns are passed over; a required one that is missing and one that is there twice are errors.
 */
enum auc_code import_table_open(struct import_table *tb, struct auc_err *err);
/*
 * Reads a record; *MORE is false after the last. A header that comes again counts from there on. A
 * record with the wrong number of fields is AUC_OK, with FAULT filled; its fields must not be read.
 */
enum auc_code import_table_next(struct import_table *tb, bool *more, struct auc_err *fault,
				struct auc_err *err);
/* The field of a column, "" if there is no such column. */
const char *import_field(const struct import_table *tb, unsigned column);
/* The same as a number in [MIN, MAX]; an empty field leaves *VALUE as it is. */
enum auc_code import_field_number(const struct import_table *tb, unsigned column, double min,
				  double max, double *value, struct auc_err *err);
/* AUC_EINVAL with the place of the field, the column's name and what was expected. */
enum auc_code import_field_expected(const struct import_table *tb, unsigned column,
				    struct auc_err *err, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* -- what is read -- */

enum import_state {
	IMPORT_COMPLETED,
	IMPORT_ENDED, /* otherwise: failed, cancelled, out of time or memory, ... */
	IMPORT_RUNNING,
	IMPORT_PENDING,
};

/* How Slurm gives out parts of GPUs. */
enum { IMPORT_SHARD, IMPORT_MPS, IMPORT_SHARES };

/* One record of a log. Its texts belong to the reader. */
struct import_record {
	const char *id;
	const char *cluster; /* or "" */
	double submit;       /* seconds, on any clock */
	double start;        /* the same; tells the later of two runs. < 0: not known */
	double end;          /* the same */
	double duration;     /* seconds of work; < 0: none */
	double suspended;    /* seconds */
	double limit;        /* seconds that it asked for; 0: not known, or no limit */
	double gpus;         /* in all */
	double nodes;        /* that it ran on; 0: not said */
	uint64_t kinds;      /* types of them it may use; 0: not said */
	const char *node;    /* one that it ran on, or "" */
	const char *model;   /* or "" */
	const char *queue;   /* or "" */
	const char *user;    /* or NULL */
	double deadline;     /* seconds after the submission; < 0: none */
	/* of GPUs; they count only where it has no whole ones */
	double shares[IMPORT_SHARES];
	enum import_state state;
	bool array, het;       /* a task of an array, a component of a heterogeneous job */
	bool odd_time;         /* a time that the local clock shows twice, or never */
	bool mixed;            /* it holds GPUs of several types at once */
	bool unstarted;        /* no start is known of it, where starts are */
	bool again;            /* it ended so that Slurm may run it again */
	struct auc_err fault;  /* the first thing that is wrong with it; code 0: nothing */
	struct auc_err faults; /* what else is wrong */
};

/* Where the next fault of R goes: the first is the one that is told. */
static inline struct auc_err *import_fault(struct import_record *r)
{
	return r->fault.code ? &r->faults : &r->fault;
}

/* What is worth telling of the jobs that are taken. */
enum {
	IMPORT_RAN,           /* still, when the log was made */
	IMPORT_NOT_COMPLETED, /* failed, cancelled, ... */
	IMPORT_SUSPENDED,
	IMPORT_ARRAY, /* a task of an array */
	IMPORT_HET,   /* a component of a heterogeneous job */
	IMPORT_ODD_TIME,
	IMPORT_MARKS
};

/* A job that is kept; its id is the name with its index. */
struct import_job {
	double submit, start, duration, limit, gpus, nodes, deadline;
	uint64_t kinds;
	bool again;
	unsigned marks; /* bits */
	unsigned model; /* index, or IMPORT_NO_MODEL */
	float batch;    /* 0: not said */
	unsigned user;  /* index, or IMPORT_NO_USER */
};

#define IMPORT_NO_MODEL UINT32_MAX
#define IMPORT_NO_USER  UINT32_MAX

struct import_gpus {
	unsigned kind;
	double count;
};

struct import_node {
	char name[AUC_NAME_MAX];
	unsigned ngpus;
	struct import_gpus gpus[IMPORT_KINDS_MAX]; /* each type once */
	double shares[IMPORT_SHARES];              /* that its GPUs are given out in */
	double cpus, mem_mb;                       /* < 0: not known */
	bool out; /* down, drained or the like: no server, but its types are known */
	/* of auction.conf that sells it; NULL: none, or not known */
	const struct auc_conf_partition *partition;
};

/* How fast a model trains: synchronous steps of all workers. */
struct import_profile {
	unsigned model;
	unsigned kind; /* of its own list of names */
	double workers, batch, steps_per_s;
	double gradient_mb; /* < 0: not known */
};

/* Names, each with an index in the order of their coming. */
struct import_names {
	struct lh_table *map;
	char **list;
	unsigned n, alloc;
};

/* Why records are not imported. */
enum import_why {
	IMPORT_ODD, /* cannot be read */
	IMPORT_OTHER_QUEUE,
	IMPORT_NEVER_STARTED,
	IMPORT_NO_GPU,
	IMPORT_NO_SHARES, /* how large their shares of GPUs are is not known */
	IMPORT_MIXED,
	IMPORT_ZERO,
	IMPORT_OTHER_STATE,
	IMPORT_EARLIER_RUN,
	IMPORT_OUTSIDE,
	IMPORT_NOT_DRAWN,
	IMPORT_NO_TYPE,
	IMPORT_TOO_MANY,
	IMPORT_TOO_LONG,
	IMPORT_WHYS
};

struct import_tally {
	unsigned long n;
	double gpu_seconds;       /* as far as they are known */
	char first[AUC_NAME_MAX]; /* id or name of the first of them */
};

/* How many records ... */
struct import_counts {
	unsigned long read, steps, continued, imported;
	unsigned long gres;     /* have GPUs, or shares of them */
	unsigned long no_gres;  /* started and had none */
	unsigned long odd_time; /* cannot be read, not even their GPU time */
	struct import_tally skipped[IMPORT_WHYS];
	uint64_t wanted; /* types of GPUs of the first job of IMPORT_NO_TYPE */
	struct import_tally odd_nodes, out_nodes; /* gpu_seconds: GPUs */
	struct auc_err odd, odd_node;             /* the first of them */
	unsigned long marks[IMPORT_MARKS];        /* of those that are imported */
};

struct auc_conf;

struct import {
	const struct import_options *o;
	struct gen g; /* values of the parameters, what is drawn, where it is written */
	struct import_names kinds, models, profile_kinds, node_names, ids, users;
	uint64_t default_kinds;      /* of --type */
	const struct auc_conf *conf; /* NULL: none */
	unsigned nnodes, nodes_alloc;
	struct import_node *nodes;
	unsigned nprofiles, profiles_alloc;
	struct import_profile *profiles;
	unsigned njobs, jobs_alloc;
	struct import_job *jobs;
	bool unique_ids; /* of a trace; in sacct's output a job has a record for each run */
	char cluster[AUC_NAME_MAX]; /* of the first record; ids of others name theirs */
	double origin;              /* time 0 of --from and --to */
	bool unix_time;
	struct import_counts counts;
};

/* What is read. */
struct import_files {
	struct auc_conf *conf; /* NULL: none is named */
	struct import_text profiles, nodes, jobs;
};

/* Opens what O names; closed by import_files_close(), also after an error. */
enum auc_code import_files_open(struct import_files *f, const struct import_options *o,
				struct auc_err *err);
void import_files_close(struct import_files *f);
/* Reads all of them into IM, which is zeroes; CONF and PROFILES may be NULL. Freed by
 * import_clear(), also after an error. */
enum auc_code import_read(struct import *im, const struct import_options *o,
			  const struct auc_conf *conf, struct import_text *profiles,
			  struct import_text *nodes, struct import_text *jobs, struct auc_err *err);
void import_clear(struct import *im);
/* import_write() with everything opened and read already; CONF and PROFILES may be NULL. */
enum auc_code import_make(const struct import_options *o, const struct auc_conf *conf,
			  struct import_text *profiles, struct import_text *nodes,
			  struct import_text *jobs, FILE *out, FILE *report, struct auc_err *err);
/* Takes a record in, or counts why not: one with a fault is odd. AUC_ENOMEM; AUC_EEXIST: the id is
 * taken, in a trace. */
enum auc_code import_add(struct import *im, const struct import_record *r, struct auc_err *err);
/* Counts a record that could not be read. */
void import_add_odd(struct import *im, const char *id, double gpu_seconds,
		    const struct auc_err *fault);
/* Takes a node in; a name twice is AUC_EEXIST. */
enum auc_code import_add_node(struct import *im, const struct import_node *n, struct auc_err *err);
/* Counts a node that could not be read. */
void import_add_odd_node(struct import *im, const struct import_node *n,
			 const struct auc_err *fault);
/* Adds COUNT GPUs of type KIND to those of N. */
void import_node_gpus(struct import_node *n, unsigned kind, double count);
/* One more for T. */
void import_count(struct import_tally *t, const char *name, double gpu_seconds);
enum auc_code import_add_profile(struct import *im, const struct import_profile *p,
				 struct auc_err *err);
/* Index of a name, which is added if it is new. AUC_ENOMEM. */
enum auc_code import_name(struct import_names *names, const char *name, unsigned *index,
			  struct auc_err *err);
/* The same if it is there. */
bool import_find(const struct import_names *names, const char *name, unsigned *index);
/* The same for a GPU type. Slurm's accounting writes types in small letters whatever slurm.conf
 * says, so that names that differ only in that are one type, written as it was first. AUC_EINVAL:
 * no such name, or too many of them. */
enum auc_code import_kind(struct import *im, const char *name, unsigned *kind, struct auc_err *err);
/* The same for the list of the profiles. */
enum auc_code import_profile_kind(struct import *im, const char *name, unsigned *kind,
				  struct auc_err *err);
/* Writes into LABEL the name of a type of GPUs as scenarios may have it, in types and, after
 * "gpu:", in TRES: a long one is shortened. */
void import_kind_label(const struct import *im, unsigned kind, char label[AUC_NAME_MAX]);
/* True for what may be a job's id: printable ASCII without blanks, not too long. */
bool import_id_valid(const char *id);

/* -- readers -- */

/* The log, of whichever kind it is; the nodes; the profiles. */
enum auc_code import_read_jobs(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_nodes(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_profiles(struct import *im, struct import_text *t, struct auc_err *err);
/* sacct --json, sacct -P, a trace. */
enum auc_code import_read_json(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_sacct(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_trace(struct import *im, struct import_text *t, struct auc_err *err);
/* Lines of "scontrol -o show node". */
enum auc_code import_read_scontrol(struct import *im, struct import_text *t, struct auc_err *err);

/* Sets the state of R, and whether it may run again, from one of Slurm's ("CANCELLED by 1000").
 * False: it is none. */
bool import_slurm_state(const char *text, struct import_record *r);
/* The first name of a list of hosts ("edge[3-5,7],cloud1": edge3) into NAME of AUC_NAME_MAX; ""
 * where there is none. */
void import_first_host(const char *hosts, char *name);
/* Which shares of GPUs GRES ("shard", "mps:a100") is; IMPORT_SHARES: none. */
unsigned import_share(const char *gres);
/* One TRES of a job ("gres/gpu", "gres/gpu:v100", "gres/shard", "node") with its count, for
 * import_tres_done(). */
struct import_tres {
	double all, typed, nodes;
	double shares[IMPORT_SHARES], typed_shares[IMPORT_SHARES];
	uint64_t kinds;
};
/* True for a TRES that counts. */
bool import_tres_wanted(const char *name);
enum auc_code import_tres_add(struct import *im, struct import_tres *t, const char *name,
			      double count, struct auc_err *err);
/* What they say of a record. */
void import_tres_done(const struct import_tres *t, struct import_record *r);
/* True for a time that Slurm means as one: not 0, and none of its numbers for "not set". */
bool import_time_known(double time);
/* A date and time as Slurm prints them, local or in Unix time. False: it is none. */
bool import_slurm_time(const char *text, double *time, bool *odd);
/* The begin of the day of TIME, on the local clock. */
double import_midnight(double time);

/* -- the scenario -- */

extern const struct gen_setting import_setting;

enum {
	IMPORT_SLOT_SECONDS,
	IMPORT_SLOTS,
	IMPORT_TAIL,
	IMPORT_SPEEDUP,
	IMPORT_JOBS,
	IMPORT_SERVERS,
	IMPORT_STATES,
	IMPORT_TYPES,
	IMPORT_PARTS,
	IMPORT_NODE_CPUS,
	IMPORT_NODE_MEM,
	IMPORT_PS_ROOM,
	IMPORT_PS_CPUS,
	IMPORT_PS_MEM,
	IMPORT_BANDWIDTH,
	IMPORT_PS_BANDWIDTH,
	IMPORT_STEP,
	IMPORT_EPOCHS,
	IMPORT_GRADIENT,
	IMPORT_EXCHANGE,
	IMPORT_PS_TIME,
	IMPORT_UPLOAD,
	IMPORT_GPU_HOUR,
	IMPORT_URGENCY,
	IMPORT_UTILITY,
	IMPORT_SLACK,
	IMPORT_FALL,
	IMPORT_PRICES,
	IMPORT_AS,
	IMPORT_TIMES,
	IMPORT_PARAMETERS
};

/* Chooses what is in the window and writes it. No job in it: AUC_EINVAL with the reason. */
enum auc_code import_scenario(struct import *im, FILE *report, struct auc_err *err);

/* What was chosen, for the report. */
struct import_summary {
	unsigned servers;
	double gpus, gpu_seconds; /* of the servers; of the jobs */
	double slots, slot_seconds;
	double last;         /* slot of the last arrival */
	unsigned long early; /* jobs that the slots end before */
};
/* Says what became of the records and nodes. */
void import_report(const struct import *im, const struct import_summary *s, FILE *report);
/* GPU-seconds that the cluster gave to jobs that cannot be imported. */
double import_lost(const struct import *im);
/* AUC_EINVAL: why no job is imported. */
enum auc_code import_none(const struct import *im, struct auc_err *err);

#endif
