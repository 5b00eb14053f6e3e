/* edited.h - documents for readers to refuse: a good one in which something is another. */
#ifndef AUC_TEST_EDITED_H
#define AUC_TEST_EDITED_H

/* TEXT, malloc'd, with its first OLD replaced by NEW; fails the test if it has none. */
char *edited(const char *text, const char *old, const char *new);

#endif
