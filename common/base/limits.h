/* limits.h - how large a market and a bid may be. */
#ifndef AUC_LIMITS_H
#define AUC_LIMITS_H

#define AUC_TRES_MAX   32 /* different TRES in one market */
#define AUC_SHAPES_MAX 64 /* shapes of one gang */
#define AUC_TYPES_MAX  32 /* worker types, and PS types, in one market */
#define AUC_SLOTS_MAX  10000
#define AUC_PARTS_MAX  1024 /* jobs that carry out one sale at a time */

#define AUC_BID_TYPES_MAX      32   /* types one bid may name, of either kind */
#define AUC_BID_PARTITIONS_MAX 64   /* partitions one bid may be confined to */
#define AUC_BID_UPLOAD_MAX     64   /* servers or sites one bid may name */
#define AUC_BID_DATA_MAX       64   /* servers on which chunks of one bid may lie */
#define AUC_BID_ACCOUNTS_MAX   16   /* accounts above each other, of one bid */
#define AUC_BID_PLACES_MAX     128  /* nodes that a gang's bid may name */
#define AUC_BID_TRES_MAX       8    /* different TRES that a gang's bid may name */
#define AUC_BLOCK_USERS_MAX    1024 /* bytes of whom a block is for beside its owner */
#define AUC_FEATURES_MAX       512 /* bytes of a server's features, and of what a bid says of them */
#define AUC_BID_TEXT_MAX       27136 /* bytes of a bid's text: the longest canonical text fits */
#define AUC_WORK_MAX           1000000000ULL

#endif
