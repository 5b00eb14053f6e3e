/*
 * gang-private.h - the inside of the search for gangs, for gang.c, which makes a decision of it,
 * gang_kinds.c, which knows the gang's shapes and servers, gang_slots.c, which tells the search
 * what is free and what it costs, and gang_search.c, which searches.
 */
#ifndef AUC_GANG_PRIVATE_H
#define AUC_GANG_PRIVATE_H

#include "market/timeline.h"
#include "policy/gang/gang.h"

/* One shape. */
struct lane {
	unsigned shape, n, d; /* its index, nodes, slots */
};

/* Shapes whose nodes take the same. */
struct kind {
	const struct auc_shape *shape; /* the first of them */
	unsigned nused;                /* TRES that a node takes */
	unsigned used[AUC_TRES_MAX];
	double amount[AUC_TRES_MAX]; /* of those */
	unsigned first, nlanes;      /* its shapes */
	unsigned nlist;              /* servers that could hold a node if they were empty */
	uint32_t *list;              /* those, by switch if that matters, then by index */
	uint32_t *ends;              /* at the place where a switch begins: where it ends */
	uint8_t *most;               /* by TRES and server: how full it may be beside a node */
	bool plain;                  /* the list is by index, and prices stand where they are */
	bool coarse[AUC_TRES_MAX]; /* what is as full as MOST may be more than there is room for */
	bool any_coarse;
	int64_t *room; /* by server and TRES: what may be in use beside a node */
};

/* Slots from FROM to before TO. */
struct span {
	uint16_t from, to;
};

/* One schedule. */
struct choice {
	double value, cost;
	unsigned completion, start; /* slot indices */
	unsigned kind, shape, nservers;
	unsigned first; /* place in the kind's list where its switch begins */
};

struct auc_gang {
	unsigned nservers, nshapes, ntres, slots; /* what the memory is made for */
	struct lane *lanes;                       /* by kind */
	struct kind *kinds;
	uint32_t *lists, *ends;
	int64_t *rooms;
	uint8_t *mosts;
	/* of the kind at hand */
	int16_t *open;     /* by server: from that slot index on there may be room */
	struct span *sure; /* by server: where it has room for SURE_KIND by what is used, too */
	unsigned sure_kind;
	struct span *summed; /* by eight servers: slots of which their SUMS are there */
	double *sums;        /* by slot and server: prices since the first of those */
	double *lowest;      /* by slot: the lowest prices of the slots before */
	double *costs;       /* scratch: of a window, on each server that is free */
	double *window;      /* scratch: the same, to be put in order */
	int16_t *anew;       /* scratch: OPEN made anew */
	uint32_t *ready, *order, *chosen, *places; /* PLACES: scratch, the servers of COSTS */
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	bool priced, within_switch;
	double cap;     /* of the price of a node in a slot */
	double floor;   /* payoffs that are not above it do not matter */
	bool none_pays; /* it is known that no payoff is positive */
	double budget;  /* INFINITY: no matter */
	unsigned nkinds, nlanes, start0;
	bool found;
	struct choice best;
	uint32_t best_server; /* its lowest; UINT32_MAX: not known */
	double best_payoff, top_payoff;
	uint64_t steps, limit; /* so far; beyond LIMIT no other completion is looked at */
	double upper;          /* of what was not looked at: no payoff is above it */
};

/* Where SERVER's prices stand: a part has its whole's. */
static inline uint32_t auc_gang_priced_at(const struct auc_market *m, uint32_t server)
{
	return m->servers[server].whole ? m->servers[server].whole - 1 : server;
}

static inline double auc_gang_value_at(const struct auc_gang *g, unsigned completion)
{
	if (!g->priced)
		return 0;
	return auc_utility_value(&g->job->utility,
				 (double)(g->m->first + completion - g->job->arrival));
}

/* gang_kinds.c: from what is said of the quote at hand, its first start, its kinds. */
void auc_gang_set_up(struct auc_gang *g, auc_slot not_before);

/*
 * gang_slots.c: room. OPEN says by server from which slot on it has room for K in each slot that
 * was glanced at; it may be too early where what is used was not asked.
 */
/* No slot was glanced at. */
void auc_gang_begin_open(const struct auc_gang *g, const struct kind *k, int16_t *open);
/* Servers without room in SLOT, which comes after those before, are open behind it at the soonest.
 * One that is as full as it may be, if that is not exact, stays open: auc_gang_is_sure() asks. */
void auc_gang_glance(struct auc_gang *g, const struct kind *k, unsigned slot, int16_t *open);
/* Nothing is known to be sure of KIND. */
void auc_gang_begin_sure(struct auc_gang *g, unsigned kind);
/*
 * Asks what is used. True if SERVER, which is open from START on, has room in all slots before END.
 * If not, OPEN then says that it is open from the slot after the last full one. Slots in which it
 * is known to have room are not looked at again.
 */
bool auc_gang_is_sure(struct auc_gang *g, const struct kind *k, uint32_t server, unsigned start,
		      unsigned end, int16_t *open);
/* How many of N servers, whose OPEN this is, may have room from START on. */
unsigned auc_gang_count_open(struct auc_gang *g, const int16_t *open, size_t n, unsigned start);

/* gang_slots.c: prices. */
/* Brings g->lowest to behind SLOT, which follows the last one. */
void auc_gang_add_lowest(struct auc_gang *g, const struct kind *k, unsigned slot);
/* Forgets g->sums: the kind or the cap is another one. */
void auc_gang_begin_sums(struct auc_gang *g);
/*
 * Of the places from c->first to before END, the servers that may be free from c->start on go to
 * g->places, what a node costs there from c->start to before c->completion to g->costs. Returns
 * how many. ANEW: sums are made of these slots alone, so that equal prices make equal sums; else
 * they are differences of g->sums.
 */
unsigned auc_gang_gather(struct auc_gang *g, const struct choice *c, unsigned end,
			 const int16_t *open, bool anew);

/* gang_search.c: the best schedule to g->best, if there is one (g->found). */
void auc_gang_search(struct auc_gang *g);
/* Puts the servers of C, which has room for them, to g->chosen, ascending. What they cost is made
 * anew, and returned. */
double auc_gang_choose(struct auc_gang *g, const struct choice *c);

#endif
